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
      const row = (hit.place as { readonly row?: string } | undefined)?.row
      return { to: `/t/${slug}`, ...(row === undefined ? {} : { search: { row } }) }
    }
    default:
      return { to: hit.revision ? `/a/${slug}/r/${encodeURIComponent(hit.revision.slug)}` : `/a/${slug}` }
  }
}
