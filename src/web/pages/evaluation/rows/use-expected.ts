import { useQuery } from '@tanstack/react-query'
import { call } from '../../../api/call.ts'
import type { Evaluation } from '../../../parts/evaluation/evaluation.tsx'

/** Where handlers look for the expected output unless their parameters name another column. */
const USUAL = 'correct_answer'

/** The columns of the testset that the evaluators compare outputs with. */
export function useExpectedColumns(evaluators: Evaluation['evaluators']): readonly string[] {
  const { data } = useQuery({
    queryKey: ['expected columns', evaluators.map((it) => it.revision_id)],
    queryFn: ({ signal }) =>
      Promise.all(evaluators.map(({ revision_id: id }) => columnOf(id, signal).catch(() => USUAL))),
    staleTime: Infinity,
  })
  return [...new Set([...(data ?? []), USUAL])]
}

async function columnOf(id: string, signal: AbortSignal): Promise<string> {
  const { workflow_revision: revision } = await call(
    'GET /workflows/revisions/{id}',
    { path: { id } },
    signal,
  )
  const { parameters } = (revision.data ?? {}) as { readonly parameters?: unknown }
  const { correct_answer_key: key } = (parameters ?? {}) as { readonly correct_answer_key?: unknown }
  return typeof key === 'string' && key !== '' ? key : USUAL
}

/** What was expected of a row, of the first of the columns that it has. */
export function expectedOf(
  data: Readonly<Record<string, unknown>> | undefined,
  columns: readonly string[],
): { readonly column: string; readonly value: unknown } | undefined {
  const column = columns.find((name) => data !== undefined && Object.hasOwn(data, name))
  return column === undefined ? undefined : { column, value: data?.[column] }
}
