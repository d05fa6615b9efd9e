import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQueries,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { type Answer, type Ask, type Route, call, callText } from './call.ts'
import { writeOurs } from './ours.ts'

export interface RouteOptions {
  /** False while what is asked for is not known yet. */
  readonly enabled?: boolean
  /** Milliseconds after which it is asked again, for what moves by itself. */
  readonly refetchInterval?: number | false
  /** Shows what was there before, while another page of the same is on its way. */
  readonly keepPrevious?: boolean
  /** What never changes is asked for once: a revision by its id, a file of it. */
  readonly immutable?: boolean
}

/** What a route answers now, from the cache where it is there; asked again after every write of this page. */
export function useRoute<R extends Route>(route: R, ask: Ask<R>, options: RouteOptions = {}) {
  const { enabled = true, refetchInterval = false, keepPrevious = false, immutable = false } = options
  return useQuery({
    queryKey: [route, ask],
    queryFn: ({ signal }) => call(route, ask, signal),
    enabled,
    refetchInterval,
    staleTime: immutable ? Infinity : 2000,
    ...(keepPrevious ? { placeholderData: keepPreviousData } : {}),
  })
}

/**
 * Some answers of one route that never change, each asked for once while it is wanted and forgotten soon after: parts of what is too long to be
 * held. An answer is undefined until it is there; `error` is the first refusal.
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

/** A list that goes on where `windowing.next` of the page before says (interface 2.18). `ask` has no `windowing.next` of its own. */
export function usePages<R extends Route>(route: R, ask: Ask<R>, options: RouteOptions = {}) {
  return useInfiniteQuery({
    queryKey: [route, ask, 'pages'],
    queryFn: ({ pageParam, signal }) => call(route, withNext(ask, pageParam), signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (answer: Answer<R>) =>
      (answer as { readonly windowing?: { readonly next?: string } }).windowing?.next,
    enabled: options.enabled ?? true,
    refetchInterval: options.refetchInterval ?? false,
    staleTime: 2000,
  })
}

function withNext<R extends Route>(ask: Ask<R>, next: string | undefined): Ask<R> {
  if (next === undefined) return ask
  const body = (ask.body ?? {}) as { readonly windowing?: object }
  return { ...ask, body: { ...body, windowing: { ...body.windowing, next } } }
}

/** A write. What the page shows is asked for again once it has happened. */
export function useWrite<R extends Route>(route: R) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (ask: Ask<R>) => writeOurs(() => call(route, ask)),
    onSuccess: () => cache.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' }),
  })
}

/** What a route answers, as the text that it is: numbers and the order of keys as they are stored. */
export function useRouteText<R extends Route>(route: R, ask: Ask<R>, options: RouteOptions = {}) {
  const { enabled = true, immutable = false } = options
  return useQuery({
    queryKey: [route, ask, 'text'],
    queryFn: ({ signal }) => callText(route, ask, signal),
    enabled,
    staleTime: immutable ? Infinity : 2000,
  })
}
