import { Page } from '../../parts/page/page.tsx'

/** The page of this address is being built. */
export default function ComparePage() {
  return <Page crumbs={[{ label: 'Compare' }]}>{null}</Page>
}
