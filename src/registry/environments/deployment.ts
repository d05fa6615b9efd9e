import { Refusal } from '../../errors.ts'
import { type Json, type JsonObject, fromEntries } from '../../base/json.ts'
import { assertDeployable } from '../revisions/revision.ts'
import type { Payload } from '../payload/family.ts'
import type { Pin } from '../store/reference.ts'
import type { Registry } from '../store/registry.ts'
import { artifactById } from '../revisions/references.ts'
import type { Revision } from '../revisions/revision.ts'
import type { CommitRequest } from '../revisions/write-revision.ts'
import { defaultKey, referencesTo } from './pin.ts'

/** A deploy request (interface 9.3); `loc` is its place in the request. */
export interface DeployRequest {
  /** The singular name with which the pin refers to the revision: `application`. */
  readonly entity: string
  /** Without a key: the artifact's default key. */
  readonly key?: string | undefined
  readonly message?: string | undefined
  readonly loc: readonly (string | number)[]
}

/** The parts of a revision that a pin holds; with its commit, unless the same write makes that. */
export type Pinned = Pick<Revision, 'artifact' | 'variant' | 'id' | 'slug' | 'version'> &
  Partial<Pick<Revision, 'oid'>>

/** The commit on an environment that deploys a revision. */
export function deploymentOf(
  registry: Registry,
  revision: Pinned,
  { entity, key = defaultKey(revision.artifact.slug), message, loc }: DeployRequest,
): CommitRequest {
  const { artifact, id, slug, oid } = revision
  return {
    message,
    header: {},
    loc,
    change: async (latest) => {
      // The artifact may have been removed while this write waited.
      if (!registry.store.exists(artifact.family.folder, artifact.slug))
        await artifactById(registry, artifact.family, artifact.id)
      // If the same write makes the commit, that write checks it.
      if (oid !== undefined) await assertDeployable({ ...revision, oid })
      const before = pinUnder(registry, key, latest)
      if (registry.limit && before && !(await registry.limit.seesPin(before))) throw keyTaken(key)
      const pinned = before && referencesTo(artifact.family, before)?.revision
      if (pinned?.id === id) return undefined
      const from = pinned && [pinned.slug, pinned.id].filter((it) => it !== undefined).join(' ')
      return {
        // Removing the artifact fences this environment: it waits for this write, or this write sees the removal.
        requires: () => registry.store.exists(artifact.family.folder, artifact.slug),
        repository: artifact.repository.path,
        delta: fromEntries([['set', fromEntries([[key, pinOf(revision, entity)]])]]),
        trailers: {
          deployKey: oneLine(key),
          ...(from === undefined || from === '' ? {} : { deployFrom: from }),
          deployTo: `${slug} ${id}`,
        },
      }
    },
  }
}

/** Another deployment, which a key that is limited to folders does not see. */
function keyTaken(key: string): Refusal {
  return new Refusal(
    'slug_taken',
    `The key ${JSON.stringify(key)} is taken in this environment. Choose another one.`,
    {
      conflict: { key },
    },
  )
}

function pinUnder(registry: Registry, key: string, payload: Payload | undefined): Pin | undefined {
  if (payload === undefined) return undefined
  return registry.environments.pins?.(payload).find((pin) => pin.key === key)
}

/** The pin: the revision, with its variant and artifact for readers. */
function pinOf({ artifact, variant, id, slug, version }: Pinned, entity: string): JsonObject {
  const reference = (thing: { readonly id: string; readonly slug: string }): Json => ({
    id: thing.id,
    slug: thing.slug,
  })
  return fromEntries([
    [entity, reference(artifact)],
    [`${entity}_variant`, reference(variant)],
    [`${entity}_revision`, { id, slug, version }],
  ])
}

/** A key may be any text, but a trailer is one line. */
function oneLine(key: string): string {
  return /[\p{Cc}\p{Zl}\p{Zp}]|^\s|\s$|^$/u.test(key) ? JSON.stringify(key) : key
}
