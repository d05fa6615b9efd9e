import { setImmediate as nextTurn } from 'node:timers/promises'
import { Refusal } from '../errors.ts'
import type { Oid } from '../git/objects/object.ts'
import type { ArtifactView } from './artifact-view.ts'
import { pinsAt } from './environments.ts'
import { defaultKey } from './pin.ts'
import { pinnedPlace } from './pinned-place.ts'
import type { Registry } from './registry.ts'
import { latestOf } from './revision.ts'

/** Where an environment's mirror refs belong. */
export interface MirrorTargets {
  /** The commits, by artifact id. */
  readonly targets: ReadonlyMap<string, Oid>
  /** False if something that is deployed is not there (yet). */
  readonly isWhole: boolean
  /** False if it cannot be told where something that is deployed is: what mirrors it now must stay. */
  readonly isSure: boolean
}

/** So many pins are followed before other work gets its turn. */
const BREATH = 50

/** The ref that mirrors an environment in the repositories of deployed artifacts (rulings 6). */
export function mirrorRef({ slug }: ArtifactView): string {
  return `refs/environments/${slug}`
}

/** What the latest revision of the environment's default variant holds under the default keys of artifacts. */
export async function mirrorTargets(registry: Registry, environment: ArtifactView): Promise<MirrorTargets> {
  const targets = new Map<string, Oid>()
  const { defaultVariant } = environment
  const latest = defaultVariant && (await latestOf(environment, defaultVariant))
  let isWhole = true
  let isSure = true
  const pins = latest ? await pinsAt(registry, latest) : []
  for (const [index, pin] of pins.entries()) {
    if (index % BREATH === BREATH - 1) await nextTurn()
    const place = await pinnedPlace(registry, pin)
    if (!place) continue
    if (place instanceof Refusal) {
      isWhole = false
      if (!place.code.endsWith('_not_found')) isSure = false
    } else if (pin.key === defaultKey(place.artifact.slug)) targets.set(place.artifact.id, place.oid)
  }
  return { targets, isWhole, isSure }
}
