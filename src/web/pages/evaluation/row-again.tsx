import { type InfiniteData, useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { call } from '../../api/call.ts'
import { writeOurs } from '../../api/ours.ts'
import { useRoute, useWrite } from '../../api/use-route.ts'
import { Button, LinkButton } from '../../parts/button/button.tsx'
import type { Evaluation } from '../../parts/evaluation/evaluation.tsx'
import { Failure } from '../../parts/states/states.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { places, playgroundWith } from '../../shell/places.ts'
import { useRefusal } from '../../shell/session.tsx'
import { outcomeOf, type RowResult, wordOf } from './outcome.tsx'
import styles from './rows.module.css'

interface RowAgainProps {
  readonly run: Evaluation
  readonly result: RowResult
}

/** What can be done with a row: run it again, run it with a newer version of the prompt, open its inputs in the playground. */
export function RowAgain({ run, result }: RowAgainProps) {
  const { application } = run
  const again = useRowAgain(run, result.testcase_id)
  const newer = useNewerVersion(run)
  const start = useWrite('POST /evaluations/run')
  const navigate = useNavigate()
  const lacking = useRefusal('invoke')
  const refusal =
    run.state === 'finished'
      ? undefined
      : run.state === 'running'
        ? 'The evaluation is running: wait for its end.'
        : 'The evaluation was interrupted: resume it first.'
  const error = again.error ?? start.error
  const withNewer = async (): Promise<void> => {
    const { evaluation } = await start.mutateAsync({
      body: {
        testset_revision_ref: { id: run.testset.revision_id },
        application_revision_ref: { id: newer?.id ?? application.revision_id },
        evaluator_revision_refs: run.evaluators.map(({ revision_id: id }) => ({ id })),
        testcase_ids: [result.testcase_id],
        wait: false,
      },
    })
    await navigate({
      to: places.evaluation(evaluation.id),
      search: { row: result.testcase_id } as never,
    })
  }
  useCommands([
    {
      id: 'row again',
      title: 'Run this row again',
      keys: 'r',
      refusal: refusal ?? lacking,
      run: () => again.mutate(),
    },
  ])
  return (
    <>
      <div className={`row ${styles.actions}`}>
        <Button needs="invoke" refusal={refusal} busy={again.isPending} onClick={() => again.mutate()}>
          {again.isPending ? 'Running …' : 'Run this row again'}
        </Button>
        {newer && (
          <Button
            needs="invoke"
            busy={start.isPending}
            title={`Starts an evaluation of this row with v${newer.version}, the newest version`}
            onClick={() => void withNewer().catch(() => undefined)}
          >
            Run with v{newer.version}
          </Button>
        )}
        <LinkButton
          to={places.run(application.artifact_slug)}
          search={playgroundWith(application.revision_slug, result.trace_id)}
        >
          Open in playground
        </LinkButton>
      </div>
      <p role="status" className={again.data ? undefined : 'visually-hidden'}>
        {again.isPending ? 'Running the row again' : again.data && saidOf(again.data, run)}
      </p>
      {error && <Failure error={error} />}
    </>
  )
}

function saidOf({ application, evaluators }: RowResult, run: Evaluation): string {
  if ('error' in application) return `Run again: the prompt failed: ${application.error.message}`
  const verdicts = run.evaluators.map(
    ({ name, version }) => `${name} v${version} ${wordOf(outcomeOf(evaluators[name]))}`,
  )
  return `Run again: ${verdicts.join(', ') || 'the output is below'}.`
}

/** The newest version of the evaluated variant, if it is newer than the evaluated one. */
function useNewerVersion({ application }: Evaluation) {
  const { data } = useRoute('POST /workflows/revisions/retrieve', {
    body: { workflow_revision_ref: { id: application.revision_id }, include_head: true },
  })
  const head = data?.retrieval_info.head
  return head && head.id !== application.revision_id ? head : undefined
}

/** How often a rerun that goes on is looked at, in milliseconds. */
const PULSE = 500

/** Runs a row again with the versions of the evaluation. Its result replaces the one before; other loaded rows stay as they are. */
function useRowAgain({ id }: Evaluation, testcaseId: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: async (): Promise<RowResult | undefined> => {
      const path = { id }
      const body = { testcase_ids: [testcaseId] }
      let { evaluation } = await writeOurs(() =>
        call('POST /evaluations/{id}/rerun', {
          path,
          body,
        }),
      )
      while (evaluation.state === 'running') {
        await new Promise((resolve) => setTimeout(resolve, PULSE))
        evaluation = (await call('GET /evaluations/{id}', { path })).evaluation
      }
      const { results } = await call('POST /evaluations/{id}/results', { path, body: { result: body } })
      return results[0]
    },
    onSuccess: async (result) => {
      if (result) {
        cache.setQueriesData<LoadedRows>(
          { queryKey: ['evaluation rows', id] },
          (loaded) => loaded && replaced(loaded, result),
        )
      }
      cache.removeQueries({ queryKey: ['all results', id] })
      const stale = ['GET /evaluations/{id}', 'POST /evaluations/{id}/results', 'POST /evaluations/query']
      const ofRow = new Set<unknown>([...stale, 'usage', 'POST /traces/query', 'GET /traces/{id}'])
      await cache.invalidateQueries({ predicate: ({ queryKey }) => ofRow.has(queryKey[0]) })
    },
  })
}

/** The pages of rows in the cache. */
type LoadedRows = InfiniteData<{ readonly rows: readonly { readonly result: RowResult }[] }, unknown>

/** All loaded rows are many: only the page of the row changes. */
function replaced(loaded: LoadedRows, result: RowResult): LoadedRows {
  const isIt = (row: { readonly result: RowResult }): boolean => row.result.testcase_id === result.testcase_id
  return {
    ...loaded,
    pages: loaded.pages.map((page) =>
      page.rows.some(isIt)
        ? { ...page, rows: page.rows.map((row) => (isIt(row) ? { ...row, result } : row)) }
        : page,
    ),
  }
}
