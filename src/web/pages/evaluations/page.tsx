import { Page } from '../../parts/page/page.tsx'

/** The page of this address is being built. */
export default function EvaluationsPage() {
  return <Page crumbs={[{ label: 'Evaluations' }]}>{null}</Page>
}
