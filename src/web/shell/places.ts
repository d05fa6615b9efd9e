import { useNavigate, useSearch } from '@tanstack/react-router'
import { PAGES } from '../../http/workbench/addresses.ts'

/** The addresses of pages. Slugs and ids need no escaping. */
export const places = {
  home: (kind?: string) => (kind === undefined ? '/' : `/?kind=${kind}`),
  artifact: (slug: string) => `/${PAGES.artifact}/${slug}`,
  /** The head of a variant, or a version of it. */
  version: (slug: string, variant: string, version?: number) =>
    `/${PAGES.artifact}/${slug}/v/${variant}${version === undefined ? '' : `/${version}`}`,
  revision: (slug: string, revision: string) => `/${PAGES.artifact}/${slug}/r/${revision}`,
  edit: (slug: string, variant: string) => `/${PAGES.artifact}/${slug}/edit/${variant}`,
  /** An end is `v:<variant>`, `r:<revision slug>` or `e:<environment>`. */
  compare: (slug: string, base: string, head: string) =>
    `/${PAGES.artifact}/${slug}/compare/${base}...${head}`,
  run: (slug: string) => `/${PAGES.artifact}/${slug}/run`,
  testset: (slug: string) => `/${PAGES.testset}/${slug}`,
  testsetVersion: (slug: string, variant: string, version?: number) =>
    `/${PAGES.testset}/${slug}/v/${variant}${version === undefined ? '' : `/${version}`}`,
  compareTestset: (slug: string, base: string, head: string) =>
    `/${PAGES.testset}/${slug}/compare/${base}...${head}`,
  query: (slug: string) => `/${PAGES.query}/${slug}`,
  environments: () => `/${PAGES.environments}`,
  environment: (slug: string) => `/${PAGES.environments}/${slug}`,
  evaluations: () => `/${PAGES.evaluations}`,
  evaluation: (id: string) => `/${PAGES.evaluations}/${id}`,
  compareEvaluations: (left: string, right: string) => `/${PAGES.evaluations}/${left}...${right}`,
  traces: () => `/${PAGES.traces}`,
  trace: (id: string) => `/${PAGES.traces}/${id}`,
  settings: (section: string) => `/${PAGES.settings}/${section}`,
} as const

/** The search parameters of the playground that open a version with the inputs of a trace. */
export function playgroundWith(
  revisionSlug: string | undefined,
  trace: string,
): Readonly<Record<string, string>> {
  return { ...(revisionSlug === undefined ? {} : { left: `r:${revisionSlug}` }), trace }
}

/** Search parameters; undefined for one that is not there. */
type Search = Readonly<Record<string, string | undefined>>

/** The search parameters of the address. */
export function useAddress(): Search {
  return useSearch({ strict: false }) as Search
}

/** Changes some search parameters of the page: as a new entry of the history, or in place of the current one. */
export function useChangeAddress(): (change: Search, replace?: boolean) => void {
  const navigate = useNavigate()
  return (change, replace = false) =>
    void navigate({
      to: '.',
      search: ((kept: Search) => ({ ...kept, ...change })) as never,
      replace,
      resetScroll: !replace,
    })
}
