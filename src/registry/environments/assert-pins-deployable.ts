import { isDeepStrictEqual } from 'node:util'
import { Refusal } from '../../errors.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { assertDeployable } from '../revisions/revision.ts'
import type { Family, Payload } from '../payload/family.ts'
import type { Pin } from '../store/reference.ts'
import type { Registry } from '../store/registry.ts'
import type { RevisionLocation } from '../revisions/revision.ts'
import { pinnedRevision } from './pinned-revision.ts'

/**
 * Refuses pins that newly deploy something archived: `before` had nothing or something else under their key. Existing deployments stay,
 * even if they were archived since. Pins that lead nowhere only get warnings.
 */
export async function assertPinsDeployable(
  registry: Registry,
  { pins }: Family,
  payload: Payload | undefined,
  before: Payload | undefined,
  slice = new TimeSlice(),
): Promise<void> {
  if (!pins || payload === undefined) return
  const known = new Map((before === undefined ? [] : pins(before)).map((pin) => [pin.key, pin]))
  await slice.each(pins(payload), async (pin) => {
    const old = known.get(pin.key)
    if (old && isDeepStrictEqual(old, pin)) return
    const place = await placeOfPin(registry, pin)
    if (!place) return
    try {
      await assertDeployable(place)
    } catch (error) {
      const was = old && (await placeOfPin(registry, old))
      if (was?.oid !== place.oid || was.artifact.id !== place.artifact.id) throw naming(pin, error)
    }
  })
}

async function placeOfPin(registry: Registry, pin: Pin): Promise<RevisionLocation | undefined> {
  const place = await pinnedRevision(registry, pin)
  return place instanceof Refusal ? undefined : place
}

function naming({ key }: Pin, error: unknown): unknown {
  if (!(error instanceof Refusal)) return error
  return new Refusal(error.code, `The key ${JSON.stringify(key)}: ${error.message}`, error.data)
}
