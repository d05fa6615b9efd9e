import { foldFolder, folderProblem, isWithinFolder, movedFolder } from '../../base/folders.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { invalid, Refusal } from '../../errors.ts'
import { assertActive } from '../revisions/revision.ts'
import type { Registry } from '../store/registry.ts'
import type { WriteContext } from '../store/write-context.ts'
import type { ArtifactView, RecordedArtifact } from './artifact-view.ts'
import { changeArtifact, updated } from './change-artifact.ts'
import { artifactsWithin, spellingOf } from './folders.ts'

/** What became of the artifacts of a folder that was moved. */
export interface MovedFolder {
  readonly moved: readonly RecordedArtifact[]
  /** Those that are where they were, with the code of the refusal. */
  readonly failed: readonly { readonly artifact: RecordedArtifact; readonly code: string }[]
}

interface MoveOptions {
  readonly signal?: AbortSignal
  readonly before?: () => Promise<void>
  /** Whether a folder that holds nothing is no refusal. */
  readonly mayBeEmpty?: boolean
}

/** Artifacts that are written at the same time, so that they reach the disk together. */
const WRITES_AT_ONCE = 32

/**
 * Moves all that lies in a folder or below it, each artifact by a write of its own (interface 18.5). Refuses an impossible move before the
 * first write: with `folder_not_found` a folder that holds nothing, a target inside of it or with too many parts, and with
 * `outside_folders` a target that the key may not write to. Then it calls `before`, which may refuse, too. Repeating a move that was cut
 * off moves the rest.
 */
export async function moveFolder(
  registry: Registry,
  { from, to }: { readonly from: string; readonly to: string },
  { actor, attemptedAt }: WriteContext,
  { signal, before, mayBeEmpty = false }: MoveOptions = {},
): Promise<MovedFolder> {
  if (from === '') throw invalid(['body', 'from'], 'the root cannot be moved; name a folder.', INVALID)
  if (isWithinFolder(to, from) && foldFolder(to) !== foldFolder(from))
    throw invalid(['body', 'to'], `"${to}" lies in "${from}"; name a folder outside of it.`, INVALID)
  const rows = await artifactsWithin(registry, from)
  // An earlier attempt of this request may have moved all of them.
  if (rows.length === 0 && attemptedAt === undefined && !mayBeEmpty) throw folderMissing(from)
  const spell = await spellingOf(registry.whole, from, new TimeSlice(signal))
  const targetOf = (folder = ''): string => spell(movedFolder(folder, from, to))
  for (const { record } of rows) {
    registry.limit?.assertIncludes(targetOf(record.folder))
    const problem = folderProblem(targetOf(record.folder))
    if (problem === undefined) continue
    throw invalid(
      ['body', 'to'],
      `"${record.folder}" would become "${targetOf(record.folder)}", which ${problem}.`,
      INVALID,
    )
  }
  await before?.()
  const moved: RecordedArtifact[] = []
  const failed: { artifact: RecordedArtifact; code: string }[] = []
  const move = async (artifact: ArtifactView): Promise<void> => {
    try {
      moved.push(await moveArtifact(registry, artifact, { from, targetOf }, { actor }))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      failed.push({ artifact, code: error.code })
    }
  }
  for (let at = 0; at < rows.length && !signal?.aborted; at += WRITES_AT_ONCE)
    await Promise.all(rows.slice(at, at + WRITES_AT_ONCE).map(({ view }) => move(view)))
  signal?.throwIfAborted()
  return { moved, failed }
}

const INVALID = 'invalid_folder'

async function moveArtifact(
  registry: Registry,
  artifact: ArtifactView,
  { from, targetOf }: { readonly from: string; readonly targetOf: (folder?: string) => string },
  context: WriteContext,
): Promise<ArtifactView> {
  const { family, slug } = artifact
  return changeArtifact(registry, artifact, context, (state) => {
    assertActive('artifact', slug, state.artifact)
    const { folder } = state.artifact
    // Another request may have moved it meanwhile.
    if (folder === undefined || !isWithinFolder(folder, from)) throw folderMissing(from)
    const record = { ...state.artifact, folder: targetOf(folder) || undefined, ...updated(registry, context) }
    return { subject: `Move ${family.name} ${slug}`, artifact: record }
  })
}

function folderMissing(folder: string): Refusal {
  return new Refusal(
    'folder_not_found',
    `Nothing lies in the folder "${folder}" or below it. GET /folders lists the folders.`,
  )
}
