import { useInfiniteQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useState } from 'react'
import { call } from '../../../api/call.ts'
import type { RowResult } from '../outcome.ts'
import { type RowFacts, rowFacts } from './row-facts.ts'

/** A row of a run: what came of it, and what it is. */
export interface EvaluatedRow extends RowFacts {
  readonly result: RowResult
}

/** Which rows are shown, as the address says. */
export interface RowsShown {
  readonly outcome: 'passed' | 'failed' | 'error' | undefined
  readonly evaluator: string | undefined
}

interface RowsPage {
  readonly rows: readonly EvaluatedRow[]
  readonly next: string | undefined
}

const PAGE = 100

/** The rows of a run, page by page as they are needed. `done` is how many there are: where it grows, new ones are asked for, or `isBehind` says so. */
export function useRows(id: string, { outcome, evaluator }: RowsShown, done: number) {
  const { data, error, isPending, hasNextPage, isFetching, isFetchingNextPage, fetchNextPage, refetch } =
    useInfiniteQuery({
      queryKey: ['evaluation rows', id, outcome, evaluator],
      queryFn: async ({ pageParam: next, signal }): Promise<RowsPage> => {
        const answer = await call(
          'POST /evaluations/{id}/results',
          {
            path: { id },
            body: {
              result: { ...(outcome && { outcome }), ...(evaluator === undefined ? {} : { evaluator }) },
              windowing: { limit: PAGE, ...(next === undefined ? {} : { next }) },
            },
          },
          signal,
        )
        const facts = await rowFacts(answer.results, signal)
        return {
          rows: answer.results.map((result, at) => ({ result, ...facts[at] })),
          next: answer.windowing?.next,
        }
      },
      initialPageParam: undefined as string | undefined,
      getNextPageParam: ({ next }) => next,
      staleTime: 2000,
    })
  const rows = data?.pages.flatMap((page) => page.rows) ?? []
  const pages = data?.pages.length ?? 0
  // How many rows were done when they were asked for last: a row is on the disk before it is counted.
  const [asked, setAsked] = useState(done)
  const isBehind = pages > 0 && !hasNextPage && !isFetching && asked !== done
  const catchUp = useCallback(() => {
    setAsked(done)
    void refetch()
  }, [done, refetch])
  useEffect(() => {
    // New rows come behind those that are there: while few are loaded they are asked for as they come.
    if (isBehind && pages <= 2) catchUp()
  }, [isBehind, pages, catchUp])
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  return { rows, error, isPending, isBehind, catchUp, loadMore, refetch }
}
