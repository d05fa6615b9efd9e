import { Refusal } from '../errors.ts'
import type { Family, Payload, Warning } from './family.ts'
import { pinnedPlace } from './pinned-place.ts'
import type { Registry } from './registry.ts'

/** So many warnings at most: who pins more at nothing knows what they do. */
const MOST = 100

/** What the sender of pins should know: which of them point at nothing. They are stored as they are. */
export async function pinWarnings(
  registry: Registry,
  { pins }: Family,
  payload: Payload,
): Promise<readonly Warning[]> {
  const warnings: Warning[] = []
  for (const pin of pins?.(payload) ?? []) {
    if (warnings.length === MOST) break
    const place = await pinnedPlace(registry, pin)
    if (!(place instanceof Refusal)) continue
    warnings.push({
      code: 'dangling_reference',
      message: `The key ${JSON.stringify(pin.key)} points at nothing that can be retrieved. ${place.message}`,
      target: ['references', pin.key],
    })
  }
  return warnings
}
