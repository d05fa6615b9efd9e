import styles from './artifact.module.css'
import { AboutArtifact } from './about.tsx'
import { CloneBox } from './clone-box.tsx'
import { Dependents } from '../../parts/dependents/dependents.tsx'
import type { Artifact } from '../../api/artifact-kind.ts'
import { HeadReadme } from './head-readme.tsx'
import type { Variants } from './use-variants.ts'
import { VariantList } from './variant-list.tsx'

/** What stands beside the history. */
export function Aside({ artifact, variants }: { readonly artifact: Artifact; readonly variants: Variants }) {
  const { slug } = artifact
  return (
    <aside className={styles.aside} aria-label="AboutArtifact it" tabIndex={0}>
      <AboutArtifact artifact={artifact} />
      <VariantList slug={slug} variants={variants} />
      <CloneBox artifact={artifact} />
      <Dependents of={{ workflow_ref: { slug } }} />
      {variants.all.length > 0 && <HeadReadme slug={slug} />}
    </aside>
  )
}
