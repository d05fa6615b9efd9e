import { Page } from '../../parts/page/page.tsx'

/** The page of this address is being built. */
export default function TracesPage() {
  return <Page crumbs={[{ label: 'Traces' }]}>{null}</Page>
}
