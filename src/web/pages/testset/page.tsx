import { Page } from '../../parts/page/page.tsx'

/** The page of this address is being built. */
export default function TestsetPage() {
  return <Page crumbs={[{ label: 'Testset' }]}>{null}</Page>
}
