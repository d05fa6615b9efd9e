import { useNavigate } from '@tanstack/react-router'
import { useRoute, useWrite } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import type { Evaluation } from '../../parts/evaluation/evaluation-state.tsx'
import { percent } from '../../parts/evaluation/shown-numbers.ts'
import { Menu } from '../../parts/menu/menu.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { ago } from '../../parts/time/ago.tsx'
import { places } from '../../shell/places.ts'

/** So many of the newest runs of the prompt are offered to compare with. */
const OTHERS = 20

/** What can be done with a run: stop it, go on with it, begin another one like it, compare it. */
export function RunActions({ run }: { readonly run: Evaluation }) {
  const { id, state, application, testset, evaluators } = run
  const navigate = useNavigate()
  const stop = useWrite('POST /evaluations/{id}/stop')
  const resume = useWrite('POST /evaluations/{id}/resume')
  const { data } = useRoute('POST /evaluations/query', {
    body: {
      evaluation: { application_id: application.artifact_id },
      windowing: { limit: OTHERS, order: 'descending' },
    },
  })
  const others = (data?.evaluations ?? []).filter((it) => it.id !== id)
  const again = {
    new: '1',
    prompt: application.artifact_slug,
    testset: testset.artifact_slug,
    evaluators: [...new Set(evaluators.map((it) => it.artifact_slug))].join(),
  }
  const error = stop.error ?? resume.error
  return (
    <>
      {error !== null && <Failure error={error} />}
      {others.length > 0 && (
        <Menu
          label="Compare with"
          items={others.map((other) => ({
            label: describe(other),
            // What is older stands at the left.
            to: places.compareEvaluations(...([other.id, id].sort() as [string, string])),
          }))}
        />
      )}
      {state === 'running' && (
        <Button
          kind="primary"
          needs="invoke"
          busy={stop.isPending}
          onClick={() => stop.mutate({ path: { id } })}
        >
          Stop the run
        </Button>
      )}
      {state === 'interrupted' && (
        <Button
          kind="primary"
          needs="invoke"
          busy={resume.isPending}
          onClick={() => resume.mutate({ path: { id }, body: { wait: false } })}
        >
          Resume the run
        </Button>
      )}
      {state === 'finished' && (
        <Button
          kind="primary"
          needs="invoke"
          onClick={() => void navigate({ to: places.evaluations(), search: again as never })}
        >
          Run again …
        </Button>
      )}
    </>
  )
}

function describe({ application, testset, evaluators, summary, created_at: began }: Evaluation): string {
  const rates = evaluators
    .map(({ name, version }) => `${name} v${version} ${percent(summary.evaluators[name]?.success_rate)}`)
    .join(', ')
  const when = ago(Date.parse(began), Date.now())
  return [application.revision_slug, testset.revision_slug, rates, when].filter(Boolean).join(' · ')
}
