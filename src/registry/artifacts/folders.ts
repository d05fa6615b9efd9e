import { foldFolder, folderLine, isWithinFolder } from '../../base/folders.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import type { ListedArtifact } from '../index/index-tables.ts'
import type { Registry } from '../store/registry.ts'

/** A folder, which exists as long as an artifact lies in it or below it. */
export interface Folder {
  /** As the oldest of these artifacts spells it. */
  readonly path: string
  /** The number of artifacts that lie in it … */
  readonly artifacts: number
  /** … and of those that lie in it or below it. */
  readonly recursive: number
}

/** The folders of a project in the order of their parts, each after the one it lies in (interface 18.4). */
export async function listFolders(
  registry: Registry,
  {
    includeArchived = false,
    signal,
  }: { readonly includeArchived?: boolean | undefined; readonly signal?: AbortSignal },
): Promise<readonly Folder[]> {
  const rows = await artifactsWithin(registry, '')
  const counted = await countFolders(
    rows.filter(({ record }) => includeArchived || record.deleted_at === undefined),
    new TimeSlice(signal),
  )
  const keyOf = ({ path }: Folder): string => foldFolder(path).replaceAll('/', '\0')
  return [...counted.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

/** The folder with the parts that exist spelled as they are (interface 18.1). */
export async function spelledFolder(registry: Registry, folder: string): Promise<string> {
  return (await spellingOf(registry))(folder)
}

/** Spells the parts of a folder as those that exist are spelled; without those of artifacts within `except`. */
export async function spellingOf(
  registry: Registry,
  except?: string,
  slice = new TimeSlice(),
): Promise<(folder: string) => string> {
  const seen = rowsSeen(registry)
  return speller(await countFolders(except === undefined ? seen : outside(seen, except), slice))
}

/** The artifacts that lie in a folder or below it, archived ones too. */
export async function artifactsWithin(
  registry: Registry,
  folder: string,
): Promise<readonly ListedArtifact[]> {
  const rows: ListedArtifact[] = []
  for (const family of familiesWithFolders(registry))
    for (const row of placed((await registry.index.list(family)).rows))
      if (isWithinFolder(row.record.folder ?? '', folder)) rows.push(row)
  return rows
}

/** All artifacts that lie in a folder, as last looked at: for spelling, they need not be fresh. */
function* rowsSeen(registry: Registry): Generator<ListedArtifact> {
  for (const family of familiesWithFolders(registry)) yield* placed(registry.index.seen(family).rows)
}

/** Environments lie in no folder. */
function familiesWithFolders({ families }: Registry) {
  return families.filter(({ pins }) => !pins)
}

/** Those that lie in a folder; most records of others are not read for that. */
function* placed(rows: Iterable<ListedArtifact>): Generator<ListedArtifact> {
  for (const row of rows) if (row.mayHold('"folder":') && row.record.folder !== undefined) yield row
}

function* outside(rows: Iterable<ListedArtifact>, folder: string): Generator<ListedArtifact> {
  for (const row of rows) if (!isWithinFolder(row.record.folder ?? '', folder)) yield row
}

/** The folders of these artifacts, by their folded path. */
async function countFolders(
  rows: Iterable<ListedArtifact>,
  slice: TimeSlice,
): Promise<ReadonlyMap<string, Folder>> {
  const folders = new Map<string, Folder & { readonly since: string }>()
  await slice.each(rows, ({ record: { folder = '' }, createdAt }) => {
    const line = folderLine(folder)
    for (const path of line) {
      const key = foldFolder(path)
      const known = folders.get(key) ?? { path, artifacts: 0, recursive: 0, since: createdAt }
      const artifacts = known.artifacts + (path === folder ? 1 : 0)
      const oldest = createdAt < known.since ? { path, since: createdAt } : known
      folders.set(key, { path: oldest.path, since: oldest.since, artifacts, recursive: known.recursive + 1 })
    }
  })
  return folders
}

/** Spells the parts of a folder as these folders do. */
function speller(known: ReadonlyMap<string, Folder>): (folder: string) => string {
  return (folder) =>
    folderLine(folder).reduce((spelled, path) => {
      const part = path.slice(path.lastIndexOf('/') + 1)
      return known.get(foldFolder(path))?.path ?? (spelled === '' ? part : `${spelled}/${part}`)
    }, '')
}
