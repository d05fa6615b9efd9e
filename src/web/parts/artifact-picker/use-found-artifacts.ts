import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { call } from '../../api/call.ts'

/** What can be picked. */
export type PickedFamily = 'application' | 'evaluator' | 'testset'

/** An artifact as a picker offers it. */
export interface FoundArtifact {
  readonly slug: string
  readonly name?: string
}

const MOST = 12

/** The artifacts of a family that have the words; the last edited ones where there are none yet. */
export function useFoundArtifacts(family: PickedFamily, words: string, enabled: boolean) {
  const { data, error, isFetching } = useQuery({
    queryKey: ['picker', family, words],
    queryFn: ({ signal }) => find(family, words, signal),
    enabled,
    staleTime: 2000,
    placeholderData: keepPreviousData,
  })
  return { found: data ?? NONE, error, isFetching }
}

const NONE: readonly FoundArtifact[] = []

async function find(
  family: PickedFamily,
  words: string,
  signal: AbortSignal,
): Promise<readonly FoundArtifact[]> {
  const filter = words.length > 1 ? { text: `${words.replace(/\*+$/, '')}*` } : {}
  const windowing = { limit: MOST, ...(words.length > 1 ? {} : { order: '-updated' as const }) }
  switch (family) {
    case 'testset': {
      const body = { testset: filter, windowing, include_testcases: false }
      return (await call('POST /simple/testsets/query', { body }, signal)).testsets
    }
    case 'evaluator':
      return (await call('POST /simple/evaluators/query', { body: { evaluator: filter, windowing } }, signal))
        .evaluators
    default:
      return (
        await call('POST /simple/applications/query', { body: { application: filter, windowing } }, signal)
      ).applications
  }
}
