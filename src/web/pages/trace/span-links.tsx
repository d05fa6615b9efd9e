import { Link } from '@tanstack/react-router'
import { EnvironmentDot } from '../../parts/environment/environment-dot.tsx'
import { RevisionChip } from '../../parts/revision-chip/revision-chip.tsx'
import type { SpanNode } from '../../parts/waterfall/span-tree.ts'
import { places } from '../../shell/places.ts'
import { dataOf, type Named, ranOf, referencesOf } from '../../parts/waterfall/span-data.ts'
import styles from './trace.module.css'

/** To what a span ran, where, on which row, and in which evaluation. */
export function SpanLinks({ node: { span } }: { readonly node: SpanNode }) {
  const references = referencesOf(span)
  const ran = ranOf(span)
  const testset = references.get('testset')?.slug
  const environment = references.get('environment')?.slug
  const { evaluationId } = dataOf(span)
  const row = references.get('testcase')?.id
  if (!ran && testset === undefined && evaluationId === undefined) return null
  return (
    <p className={styles.links}>
      {ran && (
        <span>
          <Link to={places.artifact(ran.slug)}>{ran.slug}</Link>
          {isKnown(ran.revision) && (
            <RevisionChip
              to={places.revision(ran.slug, ran.revision.slug)}
              version={Number(ran.revision.version)}
            />
          )}
        </span>
      )}
      {environment !== undefined && <EnvironmentDot slug={environment} />}
      {testset !== undefined && <Link to={places.testset(testset)}>{testset}</Link>}
      {evaluationId !== undefined && (
        <Link to={places.evaluation(evaluationId)} search={(row === undefined ? {} : { row }) as never}>
          Its row in the evaluation
        </Link>
      )}
    </p>
  )
}

function isKnown(revision: Named | undefined): revision is Required<Omit<Named, 'id'>> {
  return revision?.slug !== undefined && revision.version !== undefined
}
