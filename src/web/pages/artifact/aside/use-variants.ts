import type { Answer } from '../../../api/call.ts'
import { usePages } from '../../../api/use-route.ts'

export type Variant = Answer<'POST /workflows/variants/query'>['workflow_variants'][number]

export interface Variants {
  /** Those that are loaded, the default one first. */
  readonly all: readonly Variant[]
  readonly total: number | undefined
  readonly isPending: boolean
  readonly error: Error | null
  /** Loads the next ones; undefined where all are there. */
  readonly loadMore: (() => void) | undefined
}

/** The variants of an artifact, archived ones too, in the order in which they were made: the first one is the default (interface 4.15). */
export function useVariants(slug: string): Variants {
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage } = usePages(
    'POST /workflows/variants/query',
    {
      body: {
        workflow_ref: { slug },
        include_archived: true,
        windowing: { limit: 50, order: 'ascending', count_total: true },
      },
    },
  )
  return {
    all: data?.pages.flatMap((page) => page.workflow_variants) ?? [],
    total: data?.pages[0]?.total,
    isPending,
    error,
    loadMore: hasNextPage && !isFetchingNextPage ? () => void fetchNextPage() : undefined,
  }
}
