import type { Code, Planned } from '../expectation.ts'
import { refused } from '../expectation.ts'
import { artifactRecord, flatRecord, revisionRecord, variantRecord } from '../state/model-records.ts'
import type { QueryLevel } from '../state/model-query.ts'
import type { ModelLifecycle, ModelState } from '../state/model-state.ts'
import { revisionsOf, stamp, variantsOf } from '../state/model-state.ts'
import { pickFrom, wrongId } from './pick-targets.ts'
import type { ArchiveStep, Step } from '../step.ts'

/** `POST …/{id}/archive` and `/unarchive` (interface 4.26); doing what is done already changes nothing. */
export function planArchive(state: ModelState, { surface, level, pick, undo }: ArchiveStep & Step): Planned {
  const target = targetAt(state, level, surface, pick)
  const id = target?.id ?? wrongId(state, level, pick)
  const request = {
    method: 'POST' as const,
    path: `${pathOf(level, surface)}/${id}/${undo ? 'unarchive' : 'archive'}`,
  }
  if (!target) return { request, expected: refused(notFoundAt(level)) }
  return { request, expected: { answer: () => [{ count: 1, [target.key]: target.apply(undo) }] } }
}

/** The folder of routes of a level. */
export function pathOf(level: QueryLevel, surface: string): string {
  if (level === 'flat') return `/simple/${surface}s`
  return level === 'artifact' ? `/${surface}s` : `/${surface}s/${level}s`
}

/** The refusal of an id that names nothing at a level. */
export function notFoundAt(level: QueryLevel): Code {
  return level === 'flat' ? 'artifact_not_found' : `${level}_not_found`
}

interface Target {
  readonly id: string
  readonly key: string
  /** Archives or unarchives it in the model, and answers its record. */
  readonly apply: (undo: boolean) => object
}

function targetAt(
  state: ModelState,
  level: QueryLevel,
  surface: Step['surface'],
  pick: number,
): Target | undefined {
  if (level === 'revision') {
    const place = pickFrom(revisionsOf(state), pick)
    const apply = (undo: boolean) => {
      if (!place) return {}
      const now = { deleted_at: stamp(state), deleted_by_id: state.actor.id }
      place.revision.archived = undo ? undefined : (place.revision.archived ?? now)
      return revisionRecord(state, place, surface, true)
    }
    return place && { id: place.revision.id, key: `${surface}_revision`, apply }
  }
  if (level === 'variant') {
    const place = pickFrom(variantsOf(state), pick)
    const apply = (undo: boolean) => {
      if (!place) return {}
      place.variant.lifecycle = stamped(state, place.variant.lifecycle, undo)
      return variantRecord(place, surface)
    }
    return place && { id: place.variant.id, key: `${surface}_variant`, apply }
  }
  const artifact = pickFrom(state.artifacts, pick)
  const apply = (undo: boolean) => {
    if (!artifact) return {}
    artifact.lifecycle = stamped(state, artifact.lifecycle, undo)
    return level === 'flat' ? flatRecord(state, artifact) : artifactRecord(state, artifact)
  }
  return artifact && { id: artifact.id, key: surface, apply }
}

function stamped(state: ModelState, lifecycle: ModelLifecycle, undo: boolean): ModelLifecycle {
  const isArchived = lifecycle.deleted_at !== undefined
  if (isArchived !== undo) return lifecycle
  const { created_at, created_by_id } = lifecycle
  const [at, by] = [stamp(state), state.actor.id]
  const changed = { created_at, created_by_id, updated_at: at, updated_by_id: by }
  return undo ? changed : { ...changed, deleted_at: at, deleted_by_id: by }
}
