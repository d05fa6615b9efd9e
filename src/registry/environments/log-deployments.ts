import { isDeepStrictEqual } from 'node:util'
import type { Oid } from '../../git/objects.ts'
import type { TimeSlice } from '../../base/scheduling.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { Window, Windowing } from '../store/pagination.ts'
import type { Pin, Reference } from '../store/reference.ts'
import type { Registry } from '../store/registry.ts'
import { logRevisions, logStart } from '../revisions/log-revisions.ts'
import type { Revision } from '../revisions/revision.ts'

/** A revision's change to one key of an environment; undefined on a side without a pin. */
export interface MovedKey {
  readonly key: string
  readonly from: Pin | undefined
  readonly to: Pin | undefined
}

/** A revision of an environment, with the keys it changed. */
export interface LoggedDeployment {
  readonly revision: Revision
  readonly moved: readonly MovedKey[]
}

/**
 * The deployments to an environment, newest first: each revision of its default variant with the keys it set,
 * changed or removed. An unreadable revision counts as empty.
 */
export async function logDeployments(
  registry: Registry,
  environment: Reference,
  windowing: Windowing | undefined,
  slice: TimeSlice,
): Promise<Window<LoggedDeployment>> {
  const start = await logStart(registry, registry.environments, { artifact: environment })
  if (!start) return { rows: [], next: undefined }
  const { artifact } = start
  const { rows, next } = await logRevisions(start, { windowing, includeArchived: true, signal: slice.signal })
  const logged: LoggedDeployment[] = []
  /** The pins before one revision are those of the next one in the list. */
  let read: { readonly oid: Oid; readonly pins: ReadonlyMap<string, Pin> } | undefined
  for (const revision of rows) {
    const { parent } = await artifact.repository.history.node(revision.oid)
    const after = read?.oid === revision.oid ? read.pins : await pinsIn(artifact, revision.oid)
    const before = parent ? await pinsIn(artifact, parent.oid) : new Map<string, Pin>()
    read = parent && { oid: parent.oid, pins: before }
    const moved = [...new Set([...after.keys(), ...before.keys()])]
      .map((key) => ({ key, from: before.get(key), to: after.get(key) }))
      .filter(({ from, to }) => !isDeepStrictEqual(from?.references, to?.references))
    logged.push({ revision, moved })
    await slice.pause()
  }
  return { rows: logged, next }
}

async function pinsIn(
  { family, repository, revisions }: ArtifactView,
  oid: Oid,
): Promise<ReadonlyMap<string, Pin>> {
  const { payload } = await revisions.readForList(repository.objects, oid)
  return new Map(((payload && family.pins?.(payload)) ?? []).map((pin) => [pin.key, pin]))
}
