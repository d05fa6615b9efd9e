import { useInfiniteQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import { type Answer, call } from '../../api/call.ts'
import { places } from '../../shell/places.ts'
import type { Family } from './families.ts'

/** An artifact as lists have it. */
export type Listed = Omit<Answer<'POST /workflows/query'>['workflows'][number], 'flags'> & {
  readonly flags?: Readonly<Record<string, unknown>>
}

interface ListPage {
  readonly rows: readonly Listed[]
  readonly total: number | undefined
  readonly next: string | undefined
}

const PAGE = 200

/** A family's artifacts, page by page as they are needed. `words` narrow the list as a search does; archived ones are there where they are wanted. */
export function useArtifacts(family: Family, words: string, order: string, withArchived: boolean) {
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } =
    useInfiniteQuery({
      queryKey: ['artifacts', family.kind, words, order, withArchived],
      queryFn: ({ pageParam, signal }) => list(family, words, order, withArchived, pageParam, signal),
      initialPageParam: undefined as string | undefined,
      getNextPageParam: ({ next }) => next,
      staleTime: 2000,
    })
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  const rows = data?.pages.flatMap((page) => page.rows) ?? []
  return { rows, total: data?.pages[0]?.total, error, isPending, loadMore, refetch }
}

async function list(
  { kind, found }: Family,
  words: string,
  order: string,
  withArchived: boolean,
  next: string | undefined,
  signal: AbortSignal,
): Promise<ListPage> {
  // Every family's list is asked and answered in the same way, in its own words.
  const answer = (await call(
    `POST /${kind}/query` as 'POST /workflows/query',
    {
      body: {
        ...(words.length > 1 ? { [found]: { text: words } } : {}),
        ...(withArchived ? { include_archived: true } : {}),
        windowing: {
          limit: PAGE,
          order: order as 'name',
          ...(next === undefined ? { count_total: true } : { next }),
        },
      },
    },
    signal,
  )) as Readonly<Record<string, unknown>> & {
    readonly total?: number
    readonly windowing?: { readonly next?: string }
  }
  return { rows: answer[kind] as readonly Listed[], total: answer.total, next: answer.windowing?.next }
}

/** The page of an artifact of the list. */
export function placeOfListed({ kind }: Family, { slug }: Listed): string {
  if (kind === 'testsets') return places.testset(slug)
  if (kind === 'queries') return places.query(slug)
  return kind === 'environments' ? places.environment(slug) : places.artifact(slug)
}
