import { Page } from '../../parts/page/page.tsx'

/** The page of this address is being built. */
export default function ArtifactPage() {
  return <Page crumbs={[{ label: 'Artifact' }]}>{null}</Page>
}
