import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { call } from '../../../api/call.ts'
import type { Evaluation } from '../../../parts/evaluation/evaluation-state.tsx'
import type { RowResult } from '../outcome.ts'
import { judgePairs } from '../../../parts/evaluation/judge-pairs.ts'
import { joinRows, type ComparedRow } from './join-rows.ts'

const PAGE = 500

/** All rows of a run that are done, loaded page after page. */
function useAllResults(id: string) {
  const { data, error, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery({
    queryKey: ['all results', id],
    queryFn: ({ pageParam: next, signal }) =>
      call(
        'POST /evaluations/{id}/results',
        {
          path: { id },
          body: { windowing: { limit: PAGE, ...(next === undefined ? {} : { next }) } },
        },
        signal,
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ windowing }) => windowing?.next,
    staleTime: Infinity,
  })
  useEffect(() => {
    if (hasNextPage && !isFetching) void fetchNextPage()
  }, [hasNextPage, isFetching, fetchNextPage])
  const results = useMemo(
    () => data?.pages.flatMap((page): readonly RowResult[] => page.results) ?? [],
    [data],
  )
  return { results, error, isDone: data !== undefined && !hasNextPage }
}

/** The rows of two runs side by side, once all of both are there; until then how many are. */
export function useCompared(left: Evaluation, right: Evaluation) {
  const [before, after] = [useAllResults(left.id), useAllResults(right.id)]
  const isDone = before.isDone && after.isDone
  const alone = useMemo(() => {
    if (!isDone) return undefined
    const [these, those] = [idsOf(before.results), idsOf(after.results)]
    return [...these].filter((id) => !those.has(id)).concat([...those].filter((id) => !these.has(id)))
  }, [isDone, before.results, after.results])
  const dedup = useQuery({
    queryKey: ['dedup ids', left.id, right.id, alone?.length],
    queryFn: ({ signal }) => dedupIds(alone ?? [], signal),
    enabled: alone !== undefined,
    staleTime: Infinity,
  })
  const judges = useMemo(() => judgePairs(left, right), [left, right])
  const rows = useMemo(
    (): readonly ComparedRow[] | undefined =>
      isDone && dedup.data ? joinRows(before.results, after.results, judges, dedup.data) : undefined,
    [isDone, dedup.data, before.results, after.results, judges],
  )
  return {
    rows,
    /** The evaluators that both have. */
    judges,
    loaded: before.results.length + after.results.length,
    total: left.summary.done + right.summary.done,
    error: before.error ?? after.error ?? dedup.error,
  }
}

function idsOf(results: readonly RowResult[]): ReadonlySet<string> {
  return new Set(results.map((row) => row.testcase_id))
}

async function dedupIds(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (let at = 0; at < ids.length; at += PAGE) {
    const part = ids.slice(at, at + PAGE)
    const { testcases } = await call('POST /testcases/query', { body: { testcase_ids: part } }, signal)
    for (const { id, data } of testcases) {
      const { testcase_dedup_id: dedupId } = data
      if (typeof dedupId === 'string') found.set(id, dedupId)
    }
  }
  return found
}
