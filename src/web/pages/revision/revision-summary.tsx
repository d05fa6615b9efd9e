import type { Answer } from '../../api/call.ts'
import { EnvironmentDot } from '../../parts/environment/environment-dot.tsx'
import { RevisionChip } from '../../parts/revision-chip/revision-chip.tsx'
import { places } from '../../shell/places.ts'
import styles from './revision.module.css'
import type { Revision } from './use-revision.ts'

export interface RevisionSummaryProps {
  readonly revision: Revision
  readonly provenance: Answer<'GET /workflows/revisions/{id}/provenance'>['provenance'] | undefined
}

/** What stands beside the heading: the commit, who made it and when, where it runs, and its subject. */
export function RevisionSummary({ revision, provenance }: RevisionSummaryProps) {
  const { id, slug, workflow_slug: artifact, variant_slug: variant, author, date, subject } = revision
  const version = Number(revision.version)
  const environments = new Set(provenance?.environments.flatMap(({ environment }) => environment?.slug ?? []))
  return (
    <>
      <RevisionChip
        to={places.revision(artifact, slug)}
        version={version}
        commit={id.replaceAll('-', '')}
        author={author}
        date={date}
        subject={subject.slice(0, 300)}
      />
      {[...environments].map((it) => (
        <EnvironmentDot key={it} slug={it} />
      ))}
      {slug !== `${variant}-${version}` && <span className={styles.badge}>{slug}</span>}
      <bdi className={styles.subject}>{subject.slice(0, 300)}</bdi>
    </>
  )
}
