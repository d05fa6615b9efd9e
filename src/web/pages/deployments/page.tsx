import { Page } from '../../parts/page/page.tsx'

/** The page of this address is being built. */
export default function DeploymentsPage() {
  return <Page crumbs={[{ label: 'Deployments' }]}>{null}</Page>
}
