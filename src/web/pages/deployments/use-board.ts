import { useQueryClient } from '@tanstack/react-query'
import type { Answer } from '../../api/call.ts'
import { usePages, useRoute } from '../../api/use-route.ts'
import { useLive } from '../../shell/live.tsx'

/** A deployment under a key of an environment. */
export type Cell = Answer<'POST /deployments/query'>['deployments'][number]

/** The deployments of one artifact under one key. */
export interface BoardRow {
  readonly key: string
  /** The slug of the artifact; taken from the key if the artifact is gone. */
  readonly artifact: string
  readonly name: string | undefined
  /** By the slug of the environment. */
  readonly cells: ReadonlyMap<string, Cell>
}

/** A column of the board. */
export interface BoardEnvironment {
  readonly slug: string
  readonly id: string
  readonly isGuarded: boolean
  readonly isArchived: boolean
}

const PAGE = 150

/**
 * The board, page by page. `words` filter it; the artifact `first` is the first row. Refetched after any deployment or commit. Archived
 * environments come last, on request.
 */
export function useBoard(words: string, first: string | undefined, withArchived: boolean) {
  const cache = useQueryClient()
  const archived = withArchived ? { include_archived: true } : {}
  const pages = usePages('POST /deployments/query', {
    body: { deployment: { contains: words }, ...archived, windowing: { limit: PAGE } },
  })
  const pinned = useRoute(
    'POST /deployments/query',
    { body: { deployment: { artifact_slug: first ?? '' }, ...archived } },
    { enabled: first !== undefined, keepPrevious: true },
  )
  const environments = useRoute('POST /environments/query', { body: archived }, { keepPrevious: true })
  useLive((event) => {
    if (event && event.kind !== 'deployment' && event.kind !== 'revision') return
    void cache.invalidateQueries({ queryKey: ['POST /deployments/query'] })
  })
  const all = rowsOf(pages.data?.pages.flatMap(({ deployments }) => deployments) ?? [])
  const found = rowsOf(pinned.data?.deployments ?? [])
  const own: readonly BoardRow[] =
    first === undefined
      ? []
      : found.length > 0
        ? found
        : [{ key: `${first}.revision`, artifact: first, name: undefined, cells: new Map() }]
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = pages
  return {
    rows: [...own, ...all.filter(({ artifact }) => artifact !== first)],
    environments: environments.data?.environments
      .map(({ slug, id, flags, deleted_at: archivedAt }) => ({
        slug,
        id,
        isGuarded: flags?.is_guarded === true,
        isArchived: archivedAt !== undefined,
      }))
      .sort((a, b) => Number(a.isArchived) - Number(b.isArchived)),
    error: pages.error ?? environments.error ?? pinned.error,
    isPending: pages.isPending || environments.isPending,
    hasMore: hasNextPage,
    loadMore: () => {
      if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
    },
    refetch: pages.refetch,
  }
}

function rowsOf(deployments: readonly Cell[]): readonly BoardRow[] {
  const rows = new Map<string, { readonly row: BoardRow; readonly cells: Map<string, Cell> }>()
  for (const cell of deployments) {
    const known = rows.get(cell.key)
    if (known) {
      known.cells.set(cell.environment.slug, cell)
      continue
    }
    const cells = new Map([[cell.environment.slug, cell]])
    const artifact = cell.artifact?.slug ?? cell.key.replace(/\.revision$/, '')
    rows.set(cell.key, { row: { key: cell.key, artifact, name: cell.artifact?.name, cells }, cells })
  }
  return [...rows.values()].map(({ row }) => row)
}
