import { type Answer, Problem } from '../../api/call.ts'
import type { Revision } from '../../api/kinds.ts'
import { usePages, useRoute } from '../../api/use-route.ts'
import { type End, endOf, endReferences } from '../../parts/compare/ends.ts'
import { type Deployment, PRODUCTION, useDeployments } from '../../parts/deploy/use-deployments.ts'
import { useAddress } from '../../shell/places.ts'

/** The version that the page shows. */
export interface Shown {
  /** Undefined until it is known, and where nothing is stored yet. */
  readonly end: End | undefined
  readonly revision: Revision | undefined
  readonly error: Error | null
  readonly deployments: readonly Deployment[]
  /** The newest version of the default variant. */
  readonly newest: number | undefined
}

/** The version in the address (`?shown=`); without one what production runs, else the newest version. */
export function useShown(slug: string, main: Variant | undefined): Shown {
  const { shown } = useAddress()
  const { deployments, isPending } = useDeployments(slug)
  const newest = useNewest(slug)
  const chosen = shown === undefined ? undefined : endOf(shown)
  const isInProduction = deployments.some(({ environment }) => environment.slug === PRODUCTION)
  const usual: End | undefined = isInProduction
    ? { kind: 'environment', slug: PRODUCTION }
    : main && !isPending
      ? { kind: 'variant', slug: main.slug }
      : undefined
  const end = chosen ?? usual
  const { data, error } = useRoute(
    'POST /workflows/revisions/retrieve',
    { body: end ? endReferences(end, slug, 'workflow') : {} },
    { enabled: end !== undefined },
  )
  const isEmpty = chosen === undefined && error instanceof Problem && error.status === 404
  return {
    end,
    revision: data?.workflow_revision,
    error: isEmpty ? null : error,
    deployments,
    newest: newest === undefined ? undefined : Number(newest.version),
  }
}

/** The newest version of the default variant; undefined until it is loaded, and where there is none. */
export function useNewest(slug: string) {
  const { data } = useRoute('POST /workflows/revisions/log', {
    body: { workflow_ref: { slug }, depth: 1 },
  })
  return data?.workflow_revisions[0]
}

/** A variant of the artifact. */
export type Variant = Answer<'POST /workflows/variants/query'>['workflow_variants'][number]

export interface Variants {
  /** The loaded variants, the default one first. */
  readonly all: readonly Variant[]
  readonly total: number | undefined
  readonly isPending: boolean
  readonly error: Error | null
  /** Loads more; undefined if all are loaded. */
  readonly loadMore: (() => void) | undefined
}

/** The variants of an artifact, archived ones too, oldest first: the first one is the default (interface 4.15). */
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
