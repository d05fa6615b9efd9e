import { yieldToEventLoop } from '../../base/scheduling.ts'
import { Refusal } from '../../errors.ts'
import type { Family, Payload, Warning } from '../payload/family.ts'
import { pinnedRevision } from './pinned-revision.ts'
import type { Registry } from '../store/registry.ts'

const MAX_PIN_WARNINGS = 100

const PINS_BETWEEN_YIELDS = 50

/** Warnings about pins that point at nothing; they are stored anyway. */
export async function pinWarnings(
  registry: Registry,
  { pins }: Family,
  payload: Payload,
): Promise<readonly Warning[]> {
  const warnings: Warning[] = []
  for (const [index, pin] of (pins?.(payload) ?? []).entries()) {
    if (warnings.length === MAX_PIN_WARNINGS) break
    if (index % PINS_BETWEEN_YIELDS === PINS_BETWEEN_YIELDS - 1) await yieldToEventLoop()
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
