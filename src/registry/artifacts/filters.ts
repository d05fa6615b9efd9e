import { containsJson } from '../../base/diff.ts'
import { foldFolder, isWithinFolder } from '../../base/folders.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Reference } from '../store/reference.ts'
import type { Header } from './artifact-record.ts'

/** Conditions on an item's slug and header; all must hold (interface 2.16). */
export interface HeaderFilter {
  readonly slug?: string | undefined
  readonly slugs?: readonly string[] | undefined
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly flags?: Readonly<Record<string, boolean>> | undefined
  readonly tags?: JsonObject | undefined
  readonly meta?: JsonObject | undefined
}

/** Further conditions on artifacts. */
export interface ArtifactFilter extends HeaderFilter {
  /** What lies in this folder, compared without case; the empty text is the root … */
  readonly folder?: string | undefined
  /** … and below it. */
  readonly recursive?: boolean | undefined
}

/** Further conditions on revisions. */
export interface RevisionFilter extends HeaderFilter {
  readonly message?: string | undefined
  readonly author?: string | undefined
  readonly authors?: readonly string[] | undefined
  readonly date?: string | undefined
  readonly dates?: readonly string[] | undefined
}

/** The slug (one of these), name and description (case-insensitive substring), tags and meta (nested containment). */
export function matchesHeader(slug: string, header: Header, filter: HeaderFilter): boolean {
  const slugs = filter.slug === undefined ? filter.slugs : [filter.slug, ...(filter.slugs ?? [])]
  if (slugs !== undefined && !slugs.includes(slug)) return false
  if (!holdsText(header.name, filter.name) || !holdsText(header.description, filter.description)) return false
  if (filter.tags !== undefined && !containsJson(header.tags ?? {}, filter.tags)) return false
  return filter.meta === undefined || containsJson(header.meta ?? {}, filter.meta)
}

/** Whether a folder is the one of a filter, or lies below it if the filter says so (interface 18.3). */
export function matchesFolder(
  folder: string,
  { folder: wanted, recursive = false }: ArtifactFilter,
): boolean {
  if (wanted === undefined) return true
  return recursive ? isWithinFolder(folder, wanted) : foldFolder(folder) === foldFolder(wanted)
}

/** Whether every wanted flag has its value; a missing flag counts as false. */
export function matchesFlags(
  flags: Readonly<Record<string, boolean>>,
  wanted: Readonly<Record<string, boolean>> | undefined,
): boolean {
  if (!wanted) return true
  return Object.entries(wanted).every(([name, value]) => (flags[name] ?? false) === value)
}

/** Whether a text contains another, ignoring case; an absent text contains nothing. */
export function holdsText(text: string | undefined, part: string | undefined): boolean {
  return part === undefined || (text !== undefined && text.toLowerCase().includes(part.toLowerCase()))
}

/** Whether an item has the wanted id, if one is given. */
export function isThe(wanted: string | undefined, id: string): boolean {
  return wanted === undefined || wanted === id
}

/** The references that name something; an empty list means no condition. */
export function naming(references: readonly Reference[] = []): readonly Reference[] {
  return references.filter(({ id, slug }) => id !== undefined || slug !== undefined)
}

/** Whether a reference in the list names this id or slug; a list that names nothing means no condition. */
export function matchesReferences(
  references: readonly Reference[] | undefined,
  id: string,
  hasSlug: (reference: Reference) => boolean,
): boolean {
  if (references === undefined || references.length === 0) return true
  const wanted = naming(references)
  if (wanted.length === 0) return true
  return wanted.some((reference) => (reference.id === undefined ? hasSlug(reference) : reference.id === id))
}
