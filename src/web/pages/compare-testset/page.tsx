import { Page } from '../../parts/page/page.tsx'

/** The page of this address is being built. */
export default function CompareTestsetPage() {
  return <Page crumbs={[{ label: 'CompareTestset' }]}>{null}</Page>
}
