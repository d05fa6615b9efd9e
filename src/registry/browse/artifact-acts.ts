import { type Commit, type Oid, parseCommit, type TreeEntry } from '../../git/objects.ts'
import type { TimeSlice } from '../../base/scheduling.ts'
import { archivedRecord, artifactRecord, variantRecord } from '../artifacts/artifact-record.ts'
import type { ArtifactView, RecordedArtifact } from '../artifacts/artifact-view.ts'
import { unlessDamaged } from '../index/damaged-repositories.ts'
import { type ObjectReader, readBytes, readTree } from '../payload/tree-files.ts'
import { variantUuid } from '../store/ids.ts'
import type { Registry } from '../store/registry.ts'

/** That something of an artifact was archived, brought back, guarded or unguarded. */
export interface ArtifactAct {
  readonly kind: 'archive' | 'guard'
  readonly action: 'archived' | 'unarchived' | 'guarded' | 'unguarded'
  /** ISO 8601. */
  readonly date: string
  /** The id of the key, and the name that it had. */
  readonly by: { readonly id: string | undefined; readonly name: string }
  readonly artifact: RecordedArtifact
  readonly variant?: { readonly id: string; readonly slug: string }
  readonly revision?: { readonly id: string }
}

/** What a list of acts still needs. */
export interface ActsWanted {
  /** Whether acts of this time, in milliseconds, or later are wanted. */
  needs(time: number): boolean
}

/**
 * Adds these acts of all artifacts of the project, those in the trash too, from the histories of their records; of each the newest first,
 * until no older ones are needed.
 */
export async function addArtifactActs(
  registry: Registry,
  wanted: ActsWanted,
  slice: TimeSlice,
  add: (act: ArtifactAct) => void,
): Promise<void> {
  const look = async (artifact: ArtifactView): Promise<void> => {
    await slice.pause()
    await unlessDamaged(registry, artifact, () => addActs(artifact, wanted, slice, add))
  }
  for (const family of registry.families) for (const it of await registry.index.list(family)) await look(it)
  for (const { artifact } of await registry.trash.list()) await look(artifact)
}

/** The clocks of servers may differ: a history is read this much further back. */
const CLOCKS_DIFFER_MS = 24 * 60 * 60 * 1000

async function addActs(
  artifact: ArtifactView,
  wanted: ActsWanted,
  slice: TimeSlice,
  add: (act: ArtifactAct) => void,
): Promise<void> {
  const { objects } = artifact.repository
  const read = async (oid: Oid): Promise<Commit> => parseCommit(await readBytes(objects, oid, 'commit'))
  let commit = artifact.metaCommit === undefined ? undefined : await read(artifact.metaCommit)
  while (commit && wanted.needs(commit.author.seconds * 1000 + CLOCKS_DIFFER_MS)) {
    const { tree, parents, author }: Commit = commit
    const before: Commit | undefined = parents[0] === undefined ? undefined : await read(parents[0])
    if (!before) return
    const date = new Date(author.seconds * 1000).toISOString()
    for (const change of await changesOf(objects, before.tree, tree))
      for (const act of await actsOf(objects, artifact, change))
        add({ date, artifact, ...act, by: { id: act.id, name: author.name } })
    commit = before
    await slice.pause()
  }
}

/** A file of the record that a commit changed. */
interface FileChange {
  readonly path: string
  readonly from: Oid | undefined
  readonly to: Oid | undefined
}

/** The changed files that may hold acts: `artifact.json`, and those of the folders of variants and archived revisions. */
async function changesOf(objects: ObjectReader, before: Oid, after: Oid): Promise<readonly FileChange[]> {
  const [from, to] = [await readTree(objects, before), await readTree(objects, after)]
  const changes = differences('', from, to)
  const inFolders: FileChange[] = []
  for (const { path, ...sides } of changes) {
    if (path !== 'variants' && path !== 'archived') continue
    const [old, now] = [sides.from, sides.to].map((oid) => (oid === undefined ? [] : readTree(objects, oid)))
    for (const it of differences(`${path}/`, (await old) ?? [], (await now) ?? [])) inFolders.push(it)
  }
  return [...changes.filter(({ path }) => path === 'artifact.json'), ...inFolders]
}

function differences(
  folder: string,
  before: readonly TreeEntry[],
  after: readonly TreeEntry[],
): readonly FileChange[] {
  const [old, now] = [before, after].map((tree) => new Map(tree.map(({ name, oid }) => [name, oid])))
  return [...new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])]
    .map((name) => ({ path: `${folder}${name}`, from: old?.get(name), to: now?.get(name) }))
    .filter(({ from, to }) => from !== to)
}

/** An act without what its commit says; the time of the record has milliseconds. */
interface FoundAct extends Pick<ArtifactAct, 'kind' | 'action' | 'variant' | 'revision'> {
  readonly date?: string
  readonly id: string | undefined
}

async function actsOf(
  objects: ObjectReader,
  { family, digits }: ArtifactView,
  { path, from, to }: FileChange,
): Promise<readonly FoundAct[]> {
  const [folder, name = ''] = path.replace(/\.json$/, '').split('/')
  const schema =
    folder === 'archived' ? archivedRecord : folder === 'variants' ? variantRecord : artifactRecord
  const [old, now] = [await read(objects, from, schema), await read(objects, to, schema)]
  const stamp = { date: now?.updated_at ?? now?.deleted_at, id: now?.updated_by_id ?? now?.deleted_by_id }
  const common = stamp.date === undefined ? { id: stamp.id } : { date: stamp.date, id: stamp.id }
  const acts: FoundAct[] = []
  if ((old?.deleted_at === undefined) !== (now?.deleted_at === undefined)) {
    const action = now?.deleted_at === undefined ? 'unarchived' : 'archived'
    const part =
      folder === 'archived'
        ? { revision: { id: name } }
        : folder === 'variants'
          ? { variant: { id: variantUuid(name, digits), slug: name } }
          : {}
    acts.push({ kind: 'archive', action, ...common, ...part })
  }
  const { guardFlag } = family
  if (guardFlag !== undefined && (old?.flags?.[guardFlag] ?? false) !== (now?.flags?.[guardFlag] ?? false))
    acts.push({ kind: 'guard', action: now?.flags?.[guardFlag] ? 'guarded' : 'unguarded', ...common })
  return acts
}

/** What any of these records may have. */
interface Stamped {
  readonly updated_at?: string | undefined
  readonly updated_by_id?: string | undefined
  readonly deleted_at?: string | undefined
  readonly deleted_by_id?: string | undefined
  readonly flags?: Readonly<Record<string, boolean>> | undefined
}

async function read(
  objects: ObjectReader,
  oid: Oid | undefined,
  schema: typeof artifactRecord | typeof variantRecord | typeof archivedRecord,
): Promise<Stamped | undefined> {
  if (oid === undefined) return undefined
  const parsed: unknown = JSON.parse((await readBytes(objects, oid, 'blob')).toString('utf8'))
  return schema.partial().loose().safeParse(parsed).data as Stamped | undefined // each schema has the fields of Stamped, or none
}
