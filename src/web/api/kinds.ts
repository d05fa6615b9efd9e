import type { Answer } from './call.ts'

/** A prompt, an evaluator or a workflow: the page reads all three through the same routes. */
export type Artifact = Answer<'GET /workflows/{id}'>['workflow']

export type Revision = Answer<'POST /workflows/revisions/retrieve'>['workflow_revision']

/** What users call the artifact, in singular and plural, and the list of the home page that it is in. */
export function artifactKind({ flags }: Pick<Artifact, 'flags'>): {
  readonly word: string
  readonly title: string
  readonly list: 'applications' | 'evaluators' | 'workflows'
} {
  if (flags?.is_application) return { word: 'prompt', title: 'Prompts', list: 'applications' }
  if (flags?.is_evaluator) return { word: 'evaluator', title: 'Evaluators', list: 'evaluators' }
  return { word: flags?.is_snippet ? 'snippet' : 'workflow', title: 'Workflows', list: 'workflows' }
}

/** New artifacts appear in the search a moment later, so shown results are refreshed after this many milliseconds. */
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

/** What users call a kind of artifact. */
export function wordOfKind(kind: string): string {
  return WORDS[kind] ?? kind
}

/** The page that shows a hit. */
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

/** A family with a list on the home page. */
export interface Family {
  readonly kind: 'applications' | 'evaluators' | 'workflows' | 'testsets' | 'queries'
  readonly title: string
  /** The singular, in a sentence. */
  readonly one: string
  /** What the family is for, shown if it is empty. */
  readonly purpose: string
  /** The kind in search results. */
  readonly found: 'application' | 'evaluator' | 'workflow' | 'testset' | 'query'
}

export const FAMILIES: readonly Family[] = [
  {
    kind: 'applications',
    title: 'Prompts',
    one: 'prompt',
    purpose: 'A prompt holds messages, a model and its parameters. Every saved change is a version.',
    found: 'application',
  },
  {
    kind: 'evaluators',
    title: 'Evaluators',
    one: 'evaluator',
    purpose: 'An evaluator judges outputs: right or wrong, or a score.',
    found: 'evaluator',
  },
  {
    kind: 'testsets',
    title: 'Testsets',
    one: 'testset',
    purpose:
      'A testset holds rows to try prompts on, with the expected output. Drop a CSV, JSON or JSONL file here to make one.',
    found: 'testset',
  },
  {
    kind: 'queries',
    title: 'Queries',
    one: 'query',
    purpose: 'A query is a saved search in traces. Every saved change is a version.',
    found: 'query',
  },
  {
    kind: 'workflows',
    title: 'Workflows',
    one: 'workflow',
    purpose:
      'Workflows are neither prompts nor evaluators: texts that prompts embed, and plain configuration.',
    found: 'workflow',
  },
]

/** The family of `?kind=`; undefined for the home page itself, and for unknown ones. */
export function familyOf(kind: string | undefined): Family | undefined {
  return FAMILIES.find((family) => family.kind === kind)
}
