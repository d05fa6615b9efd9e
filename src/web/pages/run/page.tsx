import { Page } from '../../parts/page/page.tsx'

/** The page of this address is being built. */
export default function RunPage() {
  return <Page crumbs={[{ label: 'Run' }]}>{null}</Page>
}
