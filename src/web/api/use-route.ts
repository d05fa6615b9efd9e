import { useState } from 'react'
import {
  type QueryClient,
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQueries,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { type Answer, type Ask, type Route, call, callText } from './call.ts'
import { writeOurs } from './ours.ts'

export interface RouteOptions<A = unknown> {
  /** False while the parameters are not known yet. */
  readonly enabled?: boolean
  /** Refetches after this many milliseconds, for what changes by itself; a function says it by the last answer, or by the pages of a list. */
  readonly refetchInterval?: number | false | ((answer: A | undefined) => number | false)
  /** Keeps showing the previous answer while the next one loads. */
  readonly keepPrevious?: boolean
  /** Never refetched, such as a revision by its id. */
  readonly immutable?: boolean
}

/** The answer of a route, cached; refetched after every write of this page. */
export function useRoute<R extends Route>(route: R, ask: Ask<R>, options: RouteOptions<Answer<R>> = {}) {
  const { enabled = true, refetchInterval = false, keepPrevious = false, immutable = false } = options
  return useQuery({
    queryKey: [route, ask],
    queryFn: ({ signal }) => call(route, ask, signal),
    enabled,
    refetchInterval:
      typeof refetchInterval === 'function' ? ({ state }) => refetchInterval(state.data) : refetchInterval,
    staleTime: immutable ? Infinity : 2000,
    ...(keepPrevious ? { placeholderData: keepPreviousData } : {}),
  })
}

/**
 * Several immutable answers of one route, such as pages of a long list. Each is fetched once and dropped soon after its last use. An answer is
 * undefined until it is loaded; `error` is the first failure.
 */
export function useParts<R extends Route>(
  route: R,
  asks: readonly Ask<R>[],
): {
  readonly answers: readonly (Answer<R> | undefined)[]
  readonly error: Error | null
  readonly refetch: () => void
} {
  const parts = useQueries({
    queries: asks.map((ask) => ({
      queryKey: [route, ask],
      queryFn: () => call(route, ask),
      staleTime: Infinity,
      gcTime: 20_000,
    })),
  })
  const failed = parts.find(({ error }) => error)
  return {
    answers: parts.map(({ data }) => data),
    error: failed?.error ?? null,
    refetch: () => void failed?.refetch(),
  }
}

/** A list read page by page, by `windowing.next` (interface 2.18). */
export function usePages<R extends Route>(
  route: R,
  ask: Ask<R>,
  options: RouteOptions<readonly Answer<R>[]> = {},
) {
  const { enabled = true, refetchInterval = false } = options
  return useInfiniteQuery({
    queryKey: [route, ask, 'pages'],
    queryFn: ({ pageParam, signal }) => call(route, withNext(ask, pageParam), signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (answer: Answer<R>) =>
      (answer as { readonly windowing?: { readonly next?: string } }).windowing?.next,
    enabled,
    refetchInterval:
      typeof refetchInterval === 'function'
        ? ({ state }) => refetchInterval(state.data?.pages)
        : refetchInterval,
    staleTime: 2000,
  })
}

function withNext<R extends Route>(ask: Ask<R>, next: string | undefined): Ask<R> {
  if (next === undefined) return ask
  const body = (ask.body ?? {}) as { readonly windowing?: object }
  return { ...ask, body: { ...body, windowing: { ...body.windowing, next } } }
}

/** A write. Everything shown is refetched afterwards. */
export function useWrite<R extends Route>(route: R) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (ask: Ask<R>) => writeOurs(() => call(route, ask)),
    onSuccess: () => refetchShown(cache),
  })
}

/** Refetches everything that is shown, but for the session. */
export function refetchShown(cache: QueryClient): Promise<void> {
  return cache.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
}

/** Work that a button starts: whether it goes on, and why it failed. `start` resolves to whether it was done. */
export function useWork() {
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  async function start(work: () => Promise<unknown>): Promise<boolean> {
    setBusy(true)
    setError(undefined)
    try {
      await work()
      return true
    } catch (failure) {
      setError(failure)
      return false
    } finally {
      setBusy(false)
    }
  }
  return { start, isBusy, error }
}

/** The answer of a route as text, with numbers and the order of keys unchanged. */
export function useRouteText<R extends Route>(route: R, ask: Ask<R>, options: RouteOptions = {}) {
  const { enabled = true, immutable = false } = options
  return useQuery({
    queryKey: [route, ask, 'text'],
    queryFn: ({ signal }) => callText(route, ask, signal),
    enabled,
    staleTime: immutable ? Infinity : 2000,
  })
}
