import { Page } from '../../parts/page/page.tsx'

/** The page of this address is being built. */
export default function SavedQueryPage() {
  return <Page crumbs={[{ label: 'SavedQuery' }]}>{null}</Page>
}
