import { isDeepStrictEqual } from 'node:util'
import type { Oid } from '../../git/objects/object.ts'
import type { TimeSlice } from '../../scheduling/cooperative.ts'
import type { Pin } from '../reference.ts'
import type { Registry } from '../registry.ts'
import type { RevisionLocation } from '../revisions/revision.ts'

/** By key, the oldest revision up to which it has held what it holds. */
type Since = ReadonlyMap<string, RevisionLocation>

/** What came of the last walk of each environment: the next one goes as far as that. A walk decodes every revision that it passes. */
const walked = new WeakMap<object, { readonly oid: Oid; readonly since: Since }>()

/**
 * For each key that an environment's revision holds, the oldest revision, from this one back, up to which the key has held just this.
 * What does not decode holds nothing.
 */
export async function holdingSince(
  registry: Registry,
  latest: RevisionLocation,
  slice: TimeSlice,
): Promise<Since> {
  const { artifact, variant, oid } = latest
  const { repository } = artifact
  const before = walked.get(repository)
  if (before?.oid === oid) return before.since
  const since = new Map<string, RevisionLocation>()
  const open = new Map(await pinsOf(registry, latest, oid))
  for (let node = await repository.history.node(oid); open.size > 0;) {
    if (slice.isOver) await slice.rest()
    if (node.oid === before?.oid) {
      for (const key of open.keys()) {
        const place = before.since.get(key)
        if (place) since.set(key, place)
      }
      break
    }
    const { parent } = node
    const held = parent ? await pinsOf(registry, latest, parent.oid) : new Map<string, Pin>()
    for (const [key, pin] of open) {
      if (isDeepStrictEqual(held.get(key), pin)) continue
      since.set(key, { artifact, variant, oid: node.oid, version: node.depth })
      open.delete(key)
    }
    if (!parent) break
    node = parent
  }
  walked.set(repository, { oid, since })
  return since
}

async function pinsOf(
  registry: Registry,
  { artifact: { family, repository } }: RevisionLocation,
  oid: Oid,
): Promise<ReadonlyMap<string, Pin>> {
  const { payload } = await registry.revisions(family).readForList(repository.objects, oid)
  const pins = (payload && family.pins?.(payload)) ?? []
  return new Map(pins.map((pin) => [pin.key, pin]))
}
