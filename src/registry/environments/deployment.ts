import { type Json, type JsonObject, fromEntries } from '../../base/json.ts'
import { assertDeployable } from '../revisions/revision.ts'
import type { Payload } from '../payload/family.ts'
import type { Pin } from '../store/reference.ts'
import type { Registry } from '../store/registry.ts'
import { artifactById } from '../revisions/references.ts'
import type { Revision } from '../revisions/revision.ts'
import type { CommitRequest } from '../revisions/write-revision.ts'
import { defaultKey, referencesTo } from './pin.ts'

/** What a deploy request says (interface 9.3); `loc` is where it stands in the request. */
export interface DeployRequest {
  /** The singular under which the pin refers to the revision: `application`. */
  readonly entity: string
  /** The artifact's default key if absent. */
  readonly key?: string | undefined
  readonly message?: string | undefined
  readonly loc: readonly (string | number)[]
}

/** What of a revision a pin holds; with its commit, unless the same write makes that. */
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
      // It may have been removed while this write waited for its turn.
      if (!registry.store.exists(artifact.family.folder, artifact.slug))
        await artifactById(registry, artifact.family, artifact.id)
      // What the same write commits is judged there.
      if (oid !== undefined) await assertDeployable({ ...revision, oid })
      const before = pinUnder(registry, key, latest)
      const pinned = before && referencesTo(artifact.family, before)?.revision
      if (pinned?.id === id) return undefined
      const from = pinned && [pinned.slug, pinned.id].filter((it) => it !== undefined).join(' ')
      return {
        // Its removal fences this environment, and waits for this write or is seen by it.
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

function pinUnder(registry: Registry, key: string, payload: Payload | undefined): Pin | undefined {
  if (payload === undefined) return undefined
  return registry.environments.pins?.(payload).find((pin) => pin.key === key)
}

/** What stands under the key: the revision, and for those who read it what it belongs to. */
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

/** A key is any text; a trailer is one line. */
function oneLine(key: string): string {
  return /[\p{Cc}\p{Zl}\p{Zp}]|^\s|\s$|^$/u.test(key) ? JSON.stringify(key) : key
}
