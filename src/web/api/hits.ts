import type { Answer } from './call.ts'

/** Very much of what was just written is found by its words a moment later: what is shown is searched for again, in milliseconds. */
export const SEARCHED_AGAIN = 3000

/** A hit of `POST /search`. */
export type SearchHit = Answer<'POST /search'>['hits'][number]

const WORDS: Readonly<Record<string, string>> = {
  application: 'prompt',
  workflow: 'workflow',
  evaluator: 'evaluator',
  testset: 'testset',
  environment: 'environment',
  query: 'query',
  row: 'row',
}

/** What people call a kind of thing. */
export function wordOfKind(kind: string): string {
  return WORDS[kind] ?? kind
}

/** The page on which a hit is seen. */
export function placeOfHit(hit: SearchHit): {
  readonly to: string
  readonly search?: Record<string, string>
} {
  const slug = encodeURIComponent(hit.artifact.slug)
  switch (hit.kind) {
    case 'environment':
      return { to: `/env/${slug}` }
    case 'query':
      return { to: `/q/${slug}` }
    case 'testset':
    case 'row': {
      const { row, column } = (hit.place ?? {}) as { readonly row?: string; readonly column?: string }
      const variant = hit.variant?.slug ?? hit.artifact.slug
      return {
        to: variant === hit.artifact.slug ? `/t/${slug}` : `/t/${slug}/v/${encodeURIComponent(variant)}`,
        ...(row === undefined ? {} : { search: { row, ...(column === undefined ? {} : { column }) } }),
      }
    }
    default:
      if (!hit.revision) return { to: `/a/${slug}` }
      return {
        to: `/a/${slug}/r/${encodeURIComponent(hit.revision.slug)}`,
        ...(typeof hit.place === 'string' ? { search: { place: hit.place } } : {}),
      }
  }
}
