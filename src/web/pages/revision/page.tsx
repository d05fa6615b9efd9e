import { Page } from '../../parts/page/page.tsx'

/** The page of this address is being built. */
export default function RevisionPage() {
  return <Page crumbs={[{ label: 'Revision' }]}>{null}</Page>
}
