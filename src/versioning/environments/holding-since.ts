import { isDeepStrictEqual } from 'node:util'
import type { TimeSlice } from '../../scheduling/cooperative.ts'
import type { Pin } from '../reference.ts'
import type { Registry } from '../registry.ts'
import type { RevisionLocation } from '../revisions/revision.ts'

/**
 * For each key that an environment's revision holds, the oldest revision, from this one back, up to which the key has held just this.
 * What does not decode holds nothing.
 */
export async function holdingSince(
  registry: Registry,
  latest: RevisionLocation,
  pins: ReadonlyMap<string, Pin>,
  slice: TimeSlice,
): Promise<ReadonlyMap<string, RevisionLocation>> {
  const { artifact, variant } = latest
  const since = new Map<string, RevisionLocation>()
  const open = new Map(pins)
  for (let node = await artifact.repository.history.node(latest.oid); open.size > 0;) {
    if (slice.isOver) await slice.rest()
    const { parent } = node
    const before = parent ? await pinsOf(registry, latest, parent.oid) : new Map<string, Pin>()
    for (const [key, pin] of open) {
      if (isDeepStrictEqual(before.get(key), pin)) continue
      since.set(key, { artifact, variant, oid: node.oid, version: node.depth })
      open.delete(key)
    }
    if (!parent) break
    node = parent
  }
  return since
}

async function pinsOf(
  registry: Registry,
  { artifact: { family, repository } }: RevisionLocation,
  oid: string,
): Promise<ReadonlyMap<string, Pin>> {
  const { payload } = await registry.revisions(family).readForList(repository.objects, oid)
  const pins = (payload && family.pins?.(payload)) ?? []
  return new Map(pins.map((pin) => [pin.key, pin]))
}
