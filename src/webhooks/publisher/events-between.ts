import type { Oid } from '../../git/objects/object.ts'
import type { ArtifactView } from '../../versioning/artifacts/artifact-view.ts'
import type { Registry } from '../../versioning/registry.ts'
import { branchEvents } from './branch-events.ts'
import { metaEvents } from './meta-events.ts'
import type { Happening, RegistryEvent } from '../registry-event.ts'
import { registryEvent } from '../registry-event.ts'
import type { PublishCursor } from './publish-cursor.ts'

/**
 * What happened to an artifact between what was told of it and this view: every revision committed and every change of what may change, one
 * event each, whoever made it by whatever way. Events of one branch, and those of the meta history, are in their order there; among each
 * other they are ordered by their seconds, and within a second by their ranks. It follows from git alone: worked out again, it gives the
 * same events with the same ids.
 */
export async function eventsBetween(
  registry: Registry,
  view: ArtifactView,
  before: PublishCursor | undefined,
): Promise<readonly RegistryEvent[]> {
  const known = before?.id === view.id ? before : undefined
  const seen = new Set<Oid>()
  const streams = [await metaEvents(registry, view, known)]
  for (const variant of view.variants) streams.push(await branchEvents(registry, view, variant, known, seen))
  return streams
    .flatMap(placed)
    .sort((a, b) => a.seconds - b.seconds || byRank(a.happening, b.happening))
    .map(({ happening }) => registryEvent(view, happening))
}

/** The one event of an artifact that was brought from elsewhere with all its history. */
export async function creationOf(registry: Registry, view: ArtifactView): Promise<readonly RegistryEvent[]> {
  const [created] = await metaEvents(registry, view, undefined)
  return created ? [registryEvent(view, created)] : []
}

interface Placed {
  readonly happening: Happening
  /** Never before that of the one before it: clocks of those who push may be wrong. */
  readonly seconds: number
}

function placed(stream: readonly Happening[]): Placed[] {
  let latest = Number.NEGATIVE_INFINITY
  return stream.map((happening) => {
    latest = Math.max(latest, happening.seconds)
    return { happening, seconds: latest }
  })
}

/** Not a difference: the rank of what comes last is infinite. */
function byRank({ rank: a }: Happening, { rank: b }: Happening): number {
  return a < b ? -1 : a > b ? 1 : 0
}
