import { Page } from '../../parts/page/page.tsx'

/** The page of this address is being built. */
export default function EvaluationPage() {
  return <Page crumbs={[{ label: 'Evaluation' }]}>{null}</Page>
}
