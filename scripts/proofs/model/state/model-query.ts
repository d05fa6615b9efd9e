import type { Expectation } from '../expectation.ts'
import { answered, refused } from '../expectation.ts'
import type { Members } from './model-data.ts'
import type { SurfaceName } from './model-records.ts'
import { artifactRecord, flatFlags, flatRecord, ROLES } from './model-records.ts'
import { revisionFlags, revisionRecord, rolesOf, variantRecord } from './model-records.ts'
import type { ModelReference } from './model-references.ts'
import { isSameId, names } from './model-references.ts'
import type { ModelArtifact, ModelHeader, ModelState, RevisionAt, VariantAt } from './model-state.ts'
import { contains, holds, revisionsOf, shownSlug, variantsOf, homeAmong } from './model-state.ts'
import type { ModelRow, ModelWindowing } from './model-window.ts'
import { cutRows } from './model-window.ts'

export type QueryLevel = 'artifact' | 'variant' | 'revision' | 'flat'

/** What a query may ask of a slug, a header and, of revisions, a commit (interface 2.16). */
export interface ModelFilter {
  readonly slug?: string
  readonly slugs?: readonly string[]
  readonly name?: string
  readonly description?: string
  readonly flags?: Readonly<Record<string, boolean>>
  readonly tags?: Members
  readonly meta?: Members
  readonly message?: string
  readonly author?: string
  readonly authors?: readonly string[]
  readonly date?: string
  readonly dates?: readonly string[]
}

export interface ModelQuery {
  readonly filter?: ModelFilter | undefined
  readonly artifacts?: readonly ModelReference[] | undefined
  readonly variants?: readonly ModelReference[] | undefined
  readonly revisions?: readonly ModelReference[] | undefined
  readonly includeArchived?: boolean | undefined
  readonly windowing?: ModelWindowing | undefined
}

/** What a query answers on a surface. */
export function expectedList(
  state: ModelState,
  level: QueryLevel,
  surface: SurfaceName,
  query: ModelQuery,
): Expectation {
  const key = { artifact: `${surface}s`, flat: `${surface}s` }[level as string] ?? `${surface}_${level}s`
  if (hasForeignFilter(level, query.filter)) return refused('unknown_field')
  const window = cutRows(rowsOf(state, level, surface, query), query.windowing)
  if (window === 'unknown cursor') return refused('invalid_request')
  return answered({
    count: window.rows.length,
    [key]: window.rows,
    ...(window.next === undefined ? {} : { windowing: { ...query.windowing, next: window.next } }),
  })
}

/** Whether a filter asks for what things of the level do not have, which is an unknown key of it (interface 2.10). */
function hasForeignFilter(level: QueryLevel, filter: ModelFilter = {}): boolean {
  const { message, author, authors, date, dates, flags = {} } = filter
  const asksCommit = [message, author, authors, date, dates].some((it) => it !== undefined)
  const asksPayload = Object.keys(flags).some((name) => !(ROLES as readonly string[]).includes(name))
  return (
    (asksCommit && level !== 'revision') || (asksPayload && (level === 'artifact' || level === 'variant'))
  )
}

function rowsOf(
  state: ModelState,
  level: QueryLevel,
  surface: SurfaceName,
  query: ModelQuery,
): readonly ModelRow[] {
  const { filter = {} } = query
  if (level === 'variant') {
    // A variant of an artifact that the references leave out is no cursor: an earlier page of the same question cannot have ended at it.
    return variantsOf(state)
      .filter(({ artifact }) => isAmong(query.artifacts, artifact))
      .map((place) => ({
        ...lifeOf(place.variant),
        record: isVariantWanted(place, surface, query) ? variantRecord(place, surface) : undefined,
      }))
  }
  if (level === 'revision') {
    return revisionsOf(state).map(({ artifact, revision }) => {
      const place = shownPlace({ artifact, revision }, query)
      const wanted = place && isRevisionWanted(state, place, surface, query)
      return {
        id: revision.id,
        at: revision.date,
        depth: revision.version,
        record: place && wanted ? revisionRecord(state, place, surface, true) : undefined,
      }
    })
  }
  return state.artifacts.map((artifact) => {
    const flags = level === 'flat' ? flatFlags(artifact) : rolesOf(artifact)
    const wanted = isArtifactWanted(artifact, surface, query) && hasFlags(flags, filter)
    const record = level === 'flat' ? flatRecord(state, artifact) : artifactRecord(state, artifact)
    return { ...lifeOf(artifact), record: wanted ? record : undefined }
  })
}

function lifeOf({ id, lifecycle }: ModelArtifact | VariantAt['variant']): Omit<ModelRow, 'record'> {
  return { id, at: lifecycle.created_at, depth: 0 }
}

function isArtifactWanted(
  artifact: ModelArtifact,
  surface: SurfaceName,
  { filter = {}, artifacts, includeArchived }: ModelQuery,
): boolean {
  return (
    (includeArchived || artifact.lifecycle.deleted_at === undefined) &&
    hasRole(artifact, surface) &&
    passes(artifact.slug, artifact.header, filter) &&
    isAmong(artifacts, artifact)
  )
}

/** Archiving an artifact hides its variants (interface 4.27); role flags are asked of the artifact. */
function isVariantWanted(
  { artifact, variant }: VariantAt,
  surface: SurfaceName,
  { filter = {}, artifacts, variants, includeArchived }: ModelQuery,
): boolean {
  const archived = artifact.lifecycle.deleted_at ?? variant.lifecycle.deleted_at
  return (
    (includeArchived || archived === undefined) &&
    hasRole(artifact, surface) &&
    hasFlags(rolesOf(artifact), filter) &&
    passes(variant.slug, variant.header, filter) &&
    isAmong(artifacts, artifact) &&
    isAmong(variants, variant)
  )
}

/** The variant a listed revision is shown at: its home among those asked for and in view (interface 4.29). */
function shownPlace(
  { artifact, revision }: Omit<RevisionAt, 'variant'>,
  { variants, includeArchived }: ModelQuery,
): RevisionAt | undefined {
  const holding = artifact.variants.filter(
    (variant) =>
      holds(variant, revision) &&
      isAmong(variants, variant) &&
      (includeArchived || variant.lifecycle.deleted_at === undefined),
  )
  const variant = homeAmong(holding, revision)
  return variant && { artifact, variant, revision }
}

function isRevisionWanted(
  state: ModelState,
  place: RevisionAt,
  surface: SurfaceName,
  { filter = {}, artifacts, revisions, includeArchived }: ModelQuery,
): boolean {
  const { artifact, revision } = place
  const naming = revisions?.filter((it) => it.id !== undefined || it.slug !== undefined) ?? []
  return (
    (includeArchived || (artifact.lifecycle.deleted_at === undefined && !revision.archived)) &&
    hasRole(artifact, surface) &&
    hasFlags(revisionFlags(place), filter) &&
    passes(shownSlug(place), revision.header, filter) &&
    isPart(filter.message, revision.message) &&
    isOneOf(revision.author, filter.author, filter.authors) &&
    isOneOf(Date.parse(revision.date), ...asTimes(filter)) &&
    isAmong(artifacts, artifact) &&
    (naming.length === 0 || naming.some((it) => names(state, it, place)))
  )
}

function hasRole(artifact: ModelArtifact, surface: SurfaceName): boolean {
  return surface === 'workflow' || rolesOf(artifact)[`is_${surface}`] === true
}

function hasFlags(flags: Readonly<Record<string, boolean>>, { flags: wanted = {} }: ModelFilter): boolean {
  return Object.entries(wanted).every(([name, value]) => flags[name] === value)
}

function passes(slug: string, header: ModelHeader, filter: ModelFilter): boolean {
  return (
    isOneOf(slug, filter.slug, filter.slugs) &&
    isPart(filter.name, header.name) &&
    isPart(filter.description, header.description) &&
    (filter.tags === undefined || contains(header.tags ?? {}, filter.tags)) &&
    (filter.meta === undefined || contains(header.meta ?? {}, filter.meta))
  )
}

/** Whether a value is the one or one of the several asked for, or none is asked for. */
function isOneOf<T>(value: T, one: T | undefined, several: readonly T[] | undefined): boolean {
  if (one === undefined && several === undefined) return true
  return value === one || (several?.includes(value) ?? false)
}

function asTimes({ date, dates }: ModelFilter): [number | undefined, number[] | undefined] {
  return [date === undefined ? undefined : Date.parse(date), dates?.map((it) => Date.parse(it))]
}

function isPart(part: string | undefined, text: string | undefined): boolean {
  return part === undefined || (text?.toLowerCase().includes(part.toLowerCase()) ?? false)
}

function isAmong(
  references: readonly ModelReference[] | undefined,
  { id, slug }: { readonly id: string; readonly slug: string },
): boolean {
  const naming = references?.filter((it) => it.id !== undefined || it.slug !== undefined) ?? []
  return (
    naming.length === 0 || naming.some((it) => (it.id === undefined ? it.slug === slug : isSameId(id, it.id)))
  )
}
