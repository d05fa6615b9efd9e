import { Page } from '../../parts/page/page.tsx'

/** The page of this address is being built. */
export default function EditPage() {
  return <Page crumbs={[{ label: 'Edit' }]}>{null}</Page>
}
