import { yieldToEventLoop } from '../../scheduling/cooperative.ts'
import { isDeepStrictEqual } from 'node:util'
import { Refusal } from '../../errors.ts'
import type { HistoryNode } from '../../git/history/first-parent-history.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import { unlessDamaged } from '../index/unless-damaged.ts'
import type { Pin } from '../reference.ts'
import type { Registry } from '../registry.ts'
import type { RevisionLocation } from '../revisions/revision.ts'
import { latestOf } from '../revisions/revision.ts'
import { pinnedRevision } from './pinned-revision.ts'

/** An environment's latest revision that holds something under a key, and since which of its revisions it has done so. */
export interface DeployedIn {
  readonly environment: RevisionLocation
  readonly key: string
  readonly since: RevisionLocation
}

/** So many revisions of an environment are looked at before other work gets its turn. */
const YIELD_EVERY = 50

/**
 * Where the revision is deployed now: in the latest revision of every variant of every environment that is not archived. What does
 * not decode holds nothing. A pin counts by what it leads to at this moment, and since it has said what it says.
 */
export async function deployedIn(
  registry: Registry,
  { artifact, oid }: RevisionLocation,
): Promise<readonly DeployedIn[]> {
  const holdings: DeployedIn[] = []
  for (const environment of await registry.index.list(registry.environments)) {
    if (environment.record.deleted_at !== undefined) continue
    for (const variant of environment.variants) {
      if (variant.record.deleted_at !== undefined) continue
      const latest = await unlessDamaged(registry, environment, () => latestOf(environment, variant))
      const pins =
        latest &&
        (await unlessDamaged(registry, environment, () => pinsIn(registry, environment, latest.oid)))
      for (const pin of pins ?? []) {
        const place = await pinnedRevision(registry, pin)
        if (!latest || !place || place instanceof Refusal) continue
        if (place.artifact.id !== artifact.id || place.oid !== oid) continue
        holdings.push({ environment: latest, key: pin.key, since: await heldSince(registry, latest, pin) })
      }
    }
  }
  return holdings
}

/** The oldest revision, from this one back, up to which the key has held just this. */
async function heldSince(registry: Registry, latest: RevisionLocation, pin: Pin): Promise<RevisionLocation> {
  const { artifact, variant } = latest
  let since: HistoryNode = await artifact.repository.history.node(latest.oid)
  for (let node = since.parent, looked = 1; node; node = node.parent, looked++) {
    if (looked % YIELD_EVERY === 0) await yieldToEventLoop()
    const before = (await pinsIn(registry, artifact, node.oid)).find(({ key }) => key === pin.key)
    if (!isDeepStrictEqual(before, pin)) break
    since = node
  }
  return { artifact, variant, oid: since.oid, version: since.depth }
}

async function pinsIn(
  registry: Registry,
  { family, repository }: ArtifactView,
  oid: string,
): Promise<readonly Pin[]> {
  const { payload } = await registry.revisions(family).readForList(repository.objects, oid)
  return (payload && family.pins?.(payload)) ?? []
}
