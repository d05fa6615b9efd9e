import { z } from 'zod'
import { Refusal } from '../errors.ts'
import type { ArtifactView } from '../versioning/artifacts/artifact-view.ts'
import type { Family } from '../versioning/family/family.ts'
import { parseUuid } from '../versioning/ids.ts'
import type { VariantPlace } from '../versioning/revisions/references.ts'
import {
  artifactById,
  resolveArtifact,
  resolveVariant,
  revisionById,
  variantById,
} from '../versioning/revisions/references.ts'
import type { Registry } from '../versioning/registry.ts'
import { resolveRevision } from '../versioning/revisions/resolve-reference.ts'
import type { RevisionPlace } from '../versioning/revisions/revision.ts'
import { slugProblem } from '../versioning/slugs/slug.ts'
import { shown } from './request-schemas.ts'

const idOrSlug = z
  .string()
  .check((context) => {
    const { value } = context
    const problem = parseUuid(value) === undefined ? slugProblem(value) : undefined
    if (problem === undefined) return
    context.issues.push({
      code: 'custom',
      input: value,
      message: `${shown(value)} is neither an id nor a slug: it ${problem}`,
      params: { type: 'invalid_slug' },
    })
  })
  .meta({ description: 'The id, a UUID, or the slug.' })

/** What `{id}` is in the path of an endpoint that finds its thing with one of the functions below. */
export const named = { params: z.object({ id: idOrSlug }) } as const

type Params = Readonly<Record<string, string>>

/** The artifact that `{id}` names, by id or slug (ruling 2). What is the id of one thing and the slug of another is the id. */
export function artifactIn(registry: Registry, family: Family, { id = '' }: Params): Promise<ArtifactView> {
  return idFirst(
    id,
    (uuid) => artifactById(registry, family, uuid),
    (slug) => resolveArtifact(registry, family, { slug }),
  )
}

/** The same for a variant; a slug that several artifacts have is refused as everywhere. */
export function variantIn(registry: Registry, family: Family, { id = '' }: Params): Promise<VariantPlace> {
  return idFirst(
    id,
    (uuid) => variantById(registry, family, uuid),
    (slug) => resolveVariant(registry, family, { slug }),
  )
}

/** The same for a revision. */
export function revisionIn(registry: Registry, family: Family, { id = '' }: Params): Promise<RevisionPlace> {
  return idFirst(
    id,
    (uuid) => revisionById(registry, family, uuid),
    (slug) => resolveRevision(registry, family, { revision: { slug } }),
  )
}

/** A slug may look like an id, so what is no id of anything is looked for once more. */
async function idFirst<T>(
  text: string,
  byId: (id: string) => Promise<T>,
  bySlug: (slug: string) => Promise<T>,
): Promise<T> {
  const id = parseUuid(text)
  if (id === undefined) return bySlug(text)
  try {
    return await byId(id)
  } catch (error) {
    if (!isNotFound(error)) throw error
    return bySlug(text).catch((other: unknown) => {
      throw isNotFound(other) ? error : other
    })
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Refusal && error.code.endsWith('_not_found')
}

/** Refuses a PUT whose body names another thing than its path (contract/workflows 4.1). */
export function assertSameId(inPath: string, inBody: string | undefined): void {
  if (inBody === undefined || inBody === inPath) return
  throw new Refusal(
    'contradictory_request',
    `The path names ${inPath}, but the body's id is ${inBody}. Send the same id, or leave it out of the body.`,
  )
}
