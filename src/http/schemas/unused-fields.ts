import { type SurfaceNames, spellings } from './spellings.ts'

/**
 * Fields of records that the server makes, and says in its answers. A client sends back what it was answered, or what other services of this
 * kind take (interface 2.11). What changes by itself is _unused_: nothing is made of it, whatever it says. What never changes is _fixed_: it may
 * come back as it was answered (see `assertComesBack`), and a request that makes something anew brings none of it.
 */
interface ServerFields {
  readonly unused: readonly string[]
  readonly fixed: readonly string[]
}

const EDITED = ['updated_at', 'updated_by_id']
const MADE = ['created_at', 'created_by_id']
const ARCHIVED = ['deleted_at', 'deleted_by_id']

export const OF_WEBHOOKS: ServerFields = {
  unused: [...EDITED, 'inactive_reason'],
  fixed: [...MADE, ...ARCHIVED],
}

export const OF_ARTIFACTS: ServerFields = {
  unused: [...EDITED, 'folder_id'],
  fixed: [...MADE, ...ARCHIVED, 'git_url'],
}

/** A flat record is an artifact with its latest revision, which others may commit. */
export const OF_FLAT: ServerFields = {
  unused: [...EDITED, ...ARCHIVED, 'folder_id', 'variant_id', 'revision_id', 'version'],
  fixed: [...MADE, 'git_url'],
}

/** Those of a thing that belongs to others: its own, and what these are. */
interface ChildFields extends ServerFields {
  readonly own: readonly string[]
}

export function ofVariants(names: Pick<SurfaceNames, 'singulars'>): ChildFields {
  const own = [...MADE, ...ARCHIVED]
  return { unused: EDITED, own, fixed: [...own, ...parents(names, '')] }
}

export function ofRevisions(names: Pick<SurfaceNames, 'singulars'>): ChildFields {
  const own = [...MADE, 'id', 'version', 'author', 'date', 'subject']
  return {
    unused: [...EDITED, ...ARCHIVED],
    own,
    fixed: [...own, ...parents(names, ''), ...parents(names, '_variant')],
  }
}

/** Those of a revision that a request brings to be looked at, not to be stored. */
export function unusedOfRevisions(names: Pick<SurfaceNames, 'singulars'>): readonly string[] {
  const { unused, fixed } = ofRevisions(names)
  return [...unused, ...fixed]
}

/** Ids and slugs of what a record belongs to. */
function parents(names: Pick<SurfaceNames, 'singulars'>, level: '' | '_variant'): readonly string[] {
  return parentNames(names, level).flatMap((name) => [`${name}_id`, `${name}_slug`])
}

/** What an artifact or a variant is called before `_id` and `_slug`. */
export function parentNames(
  names: Pick<SurfaceNames, 'singulars'>,
  level: '' | '_variant',
): readonly string[] {
  return [...spellings(names, level), level === '' ? 'artifact' : 'variant']
}

/** The header of a revision that a request brings to be looked at, not to be stored. */
export const UNUSED_HEADER: readonly string[] = ['name', 'description', 'flags', 'tags', 'meta', 'message']
