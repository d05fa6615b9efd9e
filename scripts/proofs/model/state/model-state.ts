import type { JsonValue, Members } from './model-data.ts'
import { isMembers } from './model-data.ts'

/** What creates, commits and edits may say about a thing beside its payload. */
export interface ModelHeader {
  readonly name?: string
  readonly description?: string
  readonly tags?: Members
  readonly meta?: Members
}

/** When and by whom a thing was made, changed and archived. */
export interface ModelLifecycle {
  readonly created_at: string
  readonly created_by_id: string
  readonly updated_at?: string
  readonly updated_by_id?: string
  readonly deleted_at?: string
  readonly deleted_by_id?: string
}

/** Beside `archived`, a revision never changes. */
export interface ModelRevision {
  readonly id: string
  readonly version: number
  readonly parent: ModelRevision | undefined
  /** The slug of the variant it was committed to. */
  readonly home: string
  readonly chosenSlug: string | undefined
  /** When it was chosen. */
  readonly chosenAt: string
  readonly message: string | undefined
  readonly header: ModelHeader
  readonly data: Members | undefined
  /** Text that every answer with the payload must hold, digit for digit and in this order of keys (interface 2.9). */
  readonly exact: string | undefined
  readonly author: string
  readonly date: string
  archived: { readonly deleted_at: string; readonly deleted_by_id: string } | undefined
}

export interface ModelVariant {
  readonly id: string
  readonly slug: string
  header: ModelHeader
  lifecycle: ModelLifecycle
  head: ModelRevision | undefined
}

export interface ModelArtifact {
  readonly id: string
  readonly slug: string
  header: ModelHeader
  flags: Readonly<Record<string, boolean>> | undefined
  lifecycle: ModelLifecycle
  /** In order of creation; the first is the default one (interface 4.15). */
  readonly variants: ModelVariant[]
  /** Every revision of every variant, each once. */
  readonly revisions: ModelRevision[]
}

export interface VariantAt {
  readonly artifact: ModelArtifact
  readonly variant: ModelVariant
}

/** A revision as reached through a variant. */
export interface RevisionAt extends VariantAt {
  readonly revision: ModelRevision
}

/** Everything a registry holds, as the interface describes it: no git, no index, no disk. */
export interface ModelState {
  readonly artifacts: ModelArtifact[]
  readonly actor: { readonly id: string; readonly author: string }
  readonly publicUrl: string
  /** The time, in milliseconds; the service under test reads the same. */
  readonly clock: { ms: number }
}

export function variantsOf(state: ModelState): VariantAt[] {
  return state.artifacts.flatMap((artifact) => artifact.variants.map((variant) => ({ artifact, variant })))
}

/** Every revision at its home. */
export function revisionsOf(state: ModelState): RevisionAt[] {
  return state.artifacts.flatMap((artifact) =>
    artifact.revisions.map((revision) => atHome(artifact, revision)),
  )
}

/** The revision and those before it, newest first. */
export function chainOf(revision: ModelRevision | undefined): ModelRevision[] {
  const chain: ModelRevision[] = []
  for (let at = revision; at; at = at.parent) chain.push(at)
  return chain
}

export function holds(variant: ModelVariant, revision: ModelRevision): boolean {
  return chainOf(variant.head).includes(revision)
}

/** The variant at which a revision is shown, of those that hold it: the live one it was made on, else the oldest live one (interface 4.29). */
export function homeAmong(
  holders: readonly ModelVariant[],
  { home }: ModelRevision,
): ModelVariant | undefined {
  const live = holders.filter((it) => it.lifecycle.deleted_at === undefined)
  return live.find((it) => it.slug === home) ?? live[0] ?? holders[0]
}

/** Where a revision that was reached by its id alone is shown. */
export function atHome(artifact: ModelArtifact, revision: ModelRevision): RevisionAt {
  const variant = homeAmong(
    artifact.variants.filter((it) => holds(it, revision)),
    revision,
  )
  if (!variant) throw new Error(`the model lost the variant ${revision.home}`)
  return { artifact, variant, revision }
}

/** The newest revision that is not archived by itself (interface 4.24). */
export function latestOf(variant: ModelVariant): ModelRevision | undefined {
  return chainOf(variant.head).find((revision) => !revision.archived)
}

export function versionOf(variant: ModelVariant, version: number): ModelRevision | undefined {
  return chainOf(variant.head).find((revision) => revision.version === version)
}

/** A revision's slug as shown through a variant (interface 4.12). */
export function shownSlug({ variant, revision }: RevisionAt): string {
  return revision.chosenSlug ?? `${variant.slug}-${revision.version}`
}

/** The time of a record: milliseconds. */
export function stamp({ clock }: ModelState): string {
  return new Date(clock.ms).toISOString()
}

/** The time of a commit: seconds (interface 4.19). */
export function commitDate({ clock }: ModelState): string {
  return `${new Date(clock.ms).toISOString().slice(0, 19)}Z`
}

/** The text fields and JSON of a header that are there. */
export function definedOf<T extends object>(record: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  // Only members that are undefined are left out, which is what the type says.
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as never
}

/** Whether an object has at least what another has, as deep as that goes (interface 2.16). */
export function contains(value: JsonValue | undefined, part: JsonValue): boolean {
  if (!isMembers(value) || !isMembers(part)) return JSON.stringify(value) === JSON.stringify(part)
  return Object.entries(part).every(
    ([key, wanted]) => Object.hasOwn(value, key) && contains(value[key], wanted),
  )
}
