import { Page } from '../../parts/page/page.tsx'

/** The page of this address is being built. */
export default function EnvironmentPage() {
  return <Page crumbs={[{ label: 'Environment' }]}>{null}</Page>
}
