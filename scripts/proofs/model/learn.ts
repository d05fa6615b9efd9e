import type { JsonValue, Members } from './state/model-data.ts'
import type {
  ModelArtifact,
  ModelHeader,
  ModelRevision,
  ModelState,
  ModelVariant,
} from './state/model-state.ts'
import { commitDate, definedOf, stamp } from './state/model-state.ts'
import type { PayloadText } from './step.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** An id that the server made: well-formed, nobody else's, and ending in its artifact's digits (interface 1.13). */
export function learnId(state: ModelState, id: JsonValue | undefined, artifact?: ModelArtifact): string {
  if (typeof id !== 'string' || !UUID.test(id)) throw new Error(`${JSON.stringify(id)} is not a UUID`)
  const digits = id.slice(-12)
  for (const other of state.artifacts) {
    const all = [other, ...other.variants, ...other.revisions]
    if (all.some((it) => it.id === id)) throw new Error(`the new id ${id} is taken already`)
    if (!artifact && other.id.endsWith(digits)) throw new Error(`${id} ends in the digits of ${other.id}`)
  }
  if (artifact && !artifact.id.endsWith(digits)) throw new Error(`${id} does not end as ${artifact.id}`)
  return id
}

/** Adds a variant, whose name is its slug unless it was given one. */
export function addVariant(
  state: ModelState,
  artifact: ModelArtifact,
  id: JsonValue | undefined,
  { slug, header, head }: { slug: string; header: ModelHeader; head?: ModelRevision | undefined },
): ModelVariant {
  const variant = {
    id: learnId(state, id, artifact),
    slug,
    header: { ...header, name: header.name ?? slug },
    lifecycle: { created_at: stamp(state), created_by_id: state.actor.id },
    head,
  }
  artifact.variants.push(variant)
  return variant
}

/** What a commit says beside where it goes. */
export interface Draft {
  readonly header: ModelHeader
  readonly message?: string | undefined
  readonly slug?: string | undefined
  readonly data?: Members | undefined
  readonly payload?: PayloadText | undefined
}

/** Adds a revision on top of the variant's head, archived or not (interface 4.24, 4.5). */
export function addRevision(
  state: ModelState,
  artifact: ModelArtifact,
  variant: ModelVariant,
  id: JsonValue | undefined,
  { header, message, slug, data, payload }: Draft,
): ModelRevision {
  const exact = payload?.parameters
  const revision = {
    id: learnId(state, id, artifact),
    version: (variant.head?.version ?? 0) + 1,
    parent: variant.head,
    home: variant.slug,
    chosenSlug: slug,
    chosenAt: stamp(state),
    message,
    header: definedOf(header),
    data: payload ? dataOf(payload) : data,
    exact: exact === undefined ? undefined : `"parameters":${exact}`,
    author: state.actor.author,
    date: commitDate(state),
    archived: undefined,
  }
  variant.head = revision
  artifact.revisions.push(revision)
  return revision
}

/** The payload as `JSON.parse` reads it; the exact text is compared beside. */
export function dataOf({ text }: PayloadText): Members {
  // Every payload text of the histories is an object.
  return JSON.parse(text) as Members
}
