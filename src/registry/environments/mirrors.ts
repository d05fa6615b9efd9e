import { TimeSlice, yieldToEventLoop } from '../../base/scheduling.ts'
import { Refusal } from '../../errors.ts'
import type { Oid } from '../../git/objects.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import { damageOf } from '../index/damaged-repositories.ts'
import type { Registry } from '../store/registry.ts'
import { latestOf } from '../revisions/revision.ts'
import { pinsAt } from './environments.ts'
import { defaultKey } from './pin.ts'
import { pinnedRevision } from './pinned-revision.ts'

/**
 * Keeps `refs/environments/<slug>` in the repositories of deployed artifacts current (interface 9.11, 15.5, 15.8). The ref mirrors the pin
 * under the artifact's default key in the latest revision of the environment's default variant. The environment's repository is
 * authoritative; a wrong mirror is moved when the store is opened.
 */
export class Mirrors {
  readonly #registry: Registry
  /** By environment: what was mirrored last. */
  readonly #mirrored = new Map<string, Mirrored>()
  readonly #turns = new Map<string, Turn>()

  /** From now on, mirrors follow the registry's writes to environments. */
  constructor(registry: Registry) {
    this.#registry = registry
    registry.index.onEnvironmentWritten((environment) => this.sync(environment))
  }

  /** Resolves once the mirrors match the environment at the time of this call, or later. */
  sync({ id }: ArtifactView): Promise<void> {
    const turn = this.#turns.get(id)
    if (turn) {
      const begin = (): Promise<void> => this.#begin(id)
      // The callers of this turn get its failure; the next turn tries again.
      return (turn.next ??= turn.current.then(begin, begin))
    }
    return this.#begin(id)
  }

  /** Syncs every environment that moved by plain git or another server, or whose last sync failed. */
  async syncAll(): Promise<void> {
    for (const environment of await this.#registry.index.list(this.#registry.environments)) {
      if (!this.#isMirrored(environment)) await this.sync(environment)
    }
  }

  /** Callers that wait share the next turn, which sees all their writes. */
  #begin(id: string): Promise<void> {
    const current = this.#mirror(id).finally(() => {
      if (!this.#turns.get(id)?.next) this.#turns.delete(id)
    })
    this.#turns.set(id, { current })
    return current
  }

  async #mirror(id: string): Promise<void> {
    try {
      // Another process may deploy while the mirrors of its last deployment are moved here.
      while (await this.#mirrorOnce(id));
    } catch (error) {
      // A repository is locked, or damaged: the deployment stands, and the next sync tries again.
      if (!(error instanceof Refusal) && !damageOf(error, id)) throw error
    }
  }

  /** Syncs once; answers false if the environment had not changed since its last sync. */
  async #mirrorOnce(id: string): Promise<boolean> {
    const view = await this.#registry.index.findByDigits(id)
    if (view?.id !== id || this.#isMirrored(view)) return false
    const { generation } = this.#registry.index
    const { targets, isWhole, isSure } = await mirrorTargets(this.#registry, view)
    const ref = mirrorRef(view)
    const before = this.#mirrored.get(id)?.holders ?? (await this.#holders(ref))
    const holders = new Set([...before, ...targets.keys()])
    // If one mirror cannot be moved, any of the artifacts may have the ref.
    this.#mirrored.set(id, { view: undefined, waitingSince: undefined, holders })
    for (const artifactId of holders) {
      if (isSure || targets.has(artifactId)) await this.#move(ref, artifactId, targets.get(artifactId))
    }
    const waitingSince = isWhole ? undefined : generation
    this.#mirrored.set(id, { view, waitingSince, holders: isSure ? new Set(targets.keys()) : holders })
    return isWhole
  }

  /** Whether another sync would find nothing to do. */
  #isMirrored(environment: ArtifactView): boolean {
    const { view, waitingSince } = this.#mirrored.get(environment.id) ?? {}
    if (view !== environment) return false
    return waitingSince === undefined || waitingSince === this.#registry.index.generation
  }

  /** The artifacts that have the ref, with any value. */
  async #holders(ref: string): Promise<string[]> {
    const ids: string[] = []
    for (const family of this.#registry.families) {
      await new TimeSlice().each((await this.#registry.index.list(family)).rows, (row) => {
        if (row.mayHaveRef(ref) && row.view.source.refs.refs.has(ref)) ids.push(row.id)
      })
    }
    return ids
  }

  async #move(ref: string, artifactId: string, target: Oid | undefined): Promise<void> {
    const artifact = await this.#registry.index.findByDigits(artifactId)
    if (!artifact || artifact.source.refs.refs.get(ref) === target) return
    await artifact.repository.transact(async (transaction) => {
      if (transaction.ref(ref) === target) return
      if (target === undefined) transaction.removeDerivedRef(ref)
      else transaction.move(ref, target)
    })
    await this.#registry.index.takeInOwn(artifact.family, artifact.slug)
  }
}

interface Mirrored {
  /** The environment at its last sync; undefined while its mirrors are being moved, and if that failed. */
  readonly view: ArtifactView | undefined
  /** The generation of the index in which a deployed artifact was missing. */
  readonly waitingSince: number | undefined
  /** The ids of all artifacts that may have the ref. */
  readonly holders: ReadonlySet<string>
}

interface Turn {
  readonly current: Promise<void>
  next?: Promise<void>
}

/** The right places of an environment's mirror refs. */
export interface MirrorTargets {
  /** The commits, by artifact id. */
  readonly targets: ReadonlyMap<string, Oid>
  /** False if something deployed does not exist (yet). */
  readonly isWhole: boolean
  /** False if the place of something deployed cannot be determined; its current mirror must stay. */
  readonly isSure: boolean
}

const PINS_BETWEEN_YIELDS = 50

/** The folder of the refs that mirror environments. */
export const ENVIRONMENT_REFS = 'refs/environments/'

/** The ref that mirrors an environment in the repositories of deployed artifacts (interface 9.11). */
export function mirrorRef({ slug }: ArtifactView): string {
  return `${ENVIRONMENT_REFS}${slug}`
}

/** The pins under artifacts' default keys in the latest revision of the environment's default variant. */
export async function mirrorTargets(registry: Registry, environment: ArtifactView): Promise<MirrorTargets> {
  const targets = new Map<string, Oid>()
  const { defaultVariant } = environment
  const latest = defaultVariant && (await latestOf(environment, defaultVariant))
  let isWhole = true
  let isSure = true
  const pins = latest ? await pinsAt(latest) : []
  for (const [index, pin] of pins.entries()) {
    if (index % PINS_BETWEEN_YIELDS === PINS_BETWEEN_YIELDS - 1) await yieldToEventLoop()
    const place = await pinnedRevision(registry, pin)
    if (!place) continue
    if (place instanceof Refusal) {
      isWhole = false
      if (!place.code.endsWith('_not_found')) isSure = false
    } else if (pin.key === defaultKey(place.artifact.slug)) targets.set(place.artifact.id, place.oid)
  }
  return { targets, isWhole, isSure }
}
