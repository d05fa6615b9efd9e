import styles from '../artifact.module.css'
import { ArtifactHeader } from './artifact-header.tsx'
import { CloneBox } from './clone-box.tsx'
import { Dependents } from '../../../parts/dependents/dependents.tsx'
import type { Archivable } from '../../../parts/archive/archivable.ts'
import type { Artifact } from '../../../api/artifact-kind.ts'
import { HeadReadme } from './head-readme.tsx'
import type { Variants } from './use-variants.ts'
import { VariantList } from './variant-list.tsx'

/** What stands beside the history. */
export function Aside({
  artifact,
  variants,
  archive,
}: {
  readonly artifact: Artifact
  readonly variants: Variants
  /** Asks whether something is to be archived. */
  readonly archive: (it: Archivable) => void
}) {
  const { slug } = artifact
  return (
    <aside className={styles.aside} aria-label="About it" tabIndex={0}>
      <ArtifactHeader artifact={artifact} />
      <VariantList artifact={artifact} variants={variants} archive={archive} />
      <CloneBox artifact={artifact} />
      <Dependents of={{ workflow_ref: { slug } }} />
      {variants.all.length > 0 && <HeadReadme slug={slug} />}
    </aside>
  )
}
