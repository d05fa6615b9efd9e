import { yieldToEventLoop } from '../../scheduling/cooperative.ts'
import { Refusal } from '../../errors.ts'
import type { Family, Payload, Warning } from '../family/family.ts'
import { pinnedRevision } from './pinned-revision.ts'
import type { Registry } from '../registry.ts'

/** So many warnings at most: who pins more at nothing knows what they do. */
const MOST = 100

/** So many pins are followed before other work gets its turn. */
const YIELD_EVERY = 50

/** What the sender of pins should know: which of them point at nothing. They are stored as they are. */
export async function pinWarnings(
  registry: Registry,
  { pins }: Family,
  payload: Payload,
): Promise<readonly Warning[]> {
  const warnings: Warning[] = []
  for (const [index, pin] of (pins?.(payload) ?? []).entries()) {
    if (warnings.length === MOST) break
    if (index % YIELD_EVERY === YIELD_EVERY - 1) await yieldToEventLoop()
    const place = await pinnedRevision(registry, pin)
    if (!(place instanceof Refusal)) continue
    warnings.push({
      code: 'dangling_reference',
      message: `The key ${JSON.stringify(pin.key)} points at nothing that can be retrieved. ${place.message}`,
      target: ['references', pin.key],
    })
  }
  return warnings
}
