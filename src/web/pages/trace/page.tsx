import { Page } from '../../parts/page/page.tsx'

/** The page of this address is being built. */
export default function TraceViewPage() {
  return <Page crumbs={[{ label: 'TraceView' }]}>{null}</Page>
}
