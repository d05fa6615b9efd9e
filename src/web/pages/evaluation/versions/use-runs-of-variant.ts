import { useCallback } from 'react'
import { useRoute } from '../../../api/use-route.ts'
import type { Evaluation } from '../../../parts/evaluation/evaluation-state.tsx'

/** So many of the newest versions and runs are looked at. */
const MOST = 500

/** The finished runs, newest first, of the variant whose version a run was of, on the same testset. */
export function useRunsOfVariant({ application, testset }: Evaluation): {
  readonly runs: readonly Evaluation[] | undefined
  readonly variant: string
  readonly error: Error | null
  readonly refetch: () => void
} {
  const revision = useRoute(
    'GET /workflows/revisions/{id}',
    { path: { id: application.revision_id } },
    { immutable: true },
  )
  const variant = revision.data?.workflow_revision
  const log = useRoute(
    'POST /workflows/revisions/log',
    {
      body: {
        workflow_variant_ref: { id: variant?.variant_id ?? '' },
        include_archived: true,
        windowing: { limit: MOST, order: 'descending' },
      },
    },
    { enabled: variant !== undefined },
  )
  const all = useRoute('POST /evaluations/query', {
    body: {
      evaluation: { application_id: application.artifact_id, state: 'finished' },
      windowing: { limit: MOST, order: 'descending' },
    },
  })
  const { refetch: askAgain } = all
  const refetch = useCallback(() => void askAgain(), [askAgain])
  const ids = log.data && new Set(log.data.workflow_revisions.map(({ id }) => id))
  return {
    runs:
      ids &&
      all.data?.evaluations.filter(
        (it) => it.testset.artifact_id === testset.artifact_id && ids.has(it.application.revision_id),
      ),
    variant: variant?.variant_slug ?? application.artifact_slug,
    refetch,
    error: revision.error ?? log.error ?? all.error,
  }
}
