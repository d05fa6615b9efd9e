import type { SurfaceNames } from './surface-names.ts'
import { spellings } from './surface-names.ts'

/**
 * Fields of records that requests may hold and nobody reads: a client sends back what it was answered, or what other services of this
 * kind take (rulings 1.6). The server makes them, and says so in its answers.
 */
export const OF_EVERY_RECORD = [
  'created_at',
  'created_by_id',
  'updated_at',
  'updated_by_id',
  'deleted_at',
  'deleted_by_id',
] as const

/** Those of an artifact. */
export const UNUSED_OF_ARTIFACTS: readonly string[] = [...OF_EVERY_RECORD, 'folder_id', 'git_url']

/** Those of a flat record, which is an artifact with its latest revision. */
export const UNUSED_OF_FLAT: readonly string[] = [...UNUSED_OF_ARTIFACTS, 'variant_id', 'revision_id']

/** Those of a variant. */
export function unusedOfVariants(names: SurfaceNames): readonly string[] {
  return [...OF_EVERY_RECORD, ...parents(names, '')]
}

/** Those of a revision. */
export function unusedOfRevisions(names: SurfaceNames): readonly string[] {
  return [
    ...OF_EVERY_RECORD,
    'id',
    'version',
    'author',
    'date',
    'subject',
    ...parents(names, ''),
    ...parents(names, '_variant'),
  ]
}

/** Ids and slugs of what a record belongs to. */
function parents(names: SurfaceNames, level: '' | '_variant'): readonly string[] {
  const plain = level === '' ? 'artifact' : 'variant'
  return [...spellings(names, level), plain].flatMap((name) => [`${name}_id`, `${name}_slug`])
}

/** The header of a revision that a request brings to be looked at, not to be stored. */
export const UNUSED_HEADER: readonly string[] = ['name', 'description', 'flags', 'tags', 'meta', 'message']
