import { Refusal } from '../../errors.ts'
import { counts } from '../../base/counters.ts'
import { syncTree, type Fs, type ProcessIdentity, identityName, thisProcess } from '../../storage/files.ts'
import type { GitObject, Oid } from '../objects/object.ts'
import type { EncodedPack, StagedPack } from '../packs/pack-writer.ts'
import { areMany, encodePack } from '../packs/pack-writer.ts'
import { assertRef } from '../refs/ref-store.ts'
import type { Arbiter, DecisionNote, LargePack, NameClaim } from '../transactions/arbiter.ts'
import { stageObjects } from '../transactions/write-path.ts'

/** The initial content of a new repository. */
export interface NewRepository {
  readonly objects: readonly (GitObject & { readonly oid: Oid })[]
  readonly refs: ReadonlyMap<string, Oid>
  /** Packs staged in the folder in which the repository is built. */
  readonly packs?: readonly StagedPack[]
  /** The branch that HEAD names, which may not exist yet. */
  readonly head: string
  /** Notes that the decision also writes to the store. */
  readonly notes?: readonly DecisionNote[]
  /** The names that the repository claims in its project. */
  readonly claims?: readonly NameClaim[]
}

/** The config of every repository made here; other configs are read by the rules of git-config(1). */
export const BARE_CONFIG = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n'

/** Prefix of the folders in which repositories are built. A folder of a dead process may be removed unless its journal names it. */
export const BUILD_PREFIX = '.new-'

let builds = 0

/** The folder's name for the n-th build of a process. */
export function buildName(owner: ProcessIdentity, build: number): string {
  return `${BUILD_PREFIX}${identityName(owner)}.${build}`
}

/** Creates a folder for building a repository, so that packs can be staged in it first. */
export function buildFolder(fs: Fs, folder: string): string {
  const aside = `${folder}/${buildName(thisProcess(), ++builds)}`
  for (const name of ['', '/objects', '/objects/pack']) fs.makeDir(`${aside}${name}`)
  return aside
}

/**
 * Creates a bare repository at `folder/name` atomically: builds it in a temporary folder with its first objects in one pack and its refs
 * packed, decides it, and renames the folder. If packs were staged before, `aside` is their folder. After a crash it exists completely or
 * not at all. Refuses a taken name with `slug_taken`. The caller must hold the slugs of the project. About 36 KB on disk: four folders,
 * five small files, no hooks.
 */
export async function createRepository(
  arbiter: Arbiter,
  fs: Fs,
  folder: string,
  name: string,
  content: NewRepository,
  aside = buildFolder(fs, folder),
): Promise<void> {
  const gitdir = `${folder}/${name}`
  const { refs, head, notes = [], claims = [] } = content
  try {
    const { pack, large } = await build(fs, aside, content)
    // Data that the decision does not include must be on the disk before it.
    if (!pack) await syncTree(fs, aside)
    if (!pack) await fs.syncDir(folder)
    const moves = [...refs].map(([ref, target]) => ({ ref, target }))
    const created = { build: Number(aside.slice(aside.lastIndexOf('.') + 1)), head }
    const staged = await arbiter.elsewhere?.stageLarge(large)
    const decision = await arbiter.decide([{ gitdir, moves, pack, large: staged, claims, created }], {
      notes,
    })
    try {
      fs.rename(aside, gitdir)
    } catch (error) {
      await decision.withdraw()
      throw error
    }
    decision.complete()
    // A power cut could lose both of its names, and only the bytes in a decision can restore it.
    if (!pack) await fs.syncDir(folder)
    for (const { kind } of content.objects) if (kind === 'commit') counts.commits++
  } catch (error) {
    fs.removeTree(aside)
    const code = (error as NodeJS.ErrnoException).code
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
    throw new Refusal('slug_taken', `${name} exists in the store already. Choose another slug.`)
  }
}

/** Writes everything into the folder, without syncing, and answers the pack of the objects; the caller syncs a large one. */
async function build(
  fs: Fs,
  aside: string,
  content: NewRepository,
): Promise<{ readonly pack?: EncodedPack; readonly large: readonly LargePack[] }> {
  for (const [ref, oid] of content.refs) assertRef(ref, oid)
  assertRef('HEAD', `ref: refs/heads/${content.head}`)
  layOut(fs, aside, content.refs, content.head)
  const { objects, packs = [] } = content
  if (packs.length > 0 || areMany(objects)) {
    const own = await stageObjects(fs, aside, objects)
    const large = own ? [...packs, own] : packs
    for (const staged of large) {
      staged.write()
      staged.publish()
      // No other process sees the repository yet, so no `.keep` is needed.
      staged.release()
    }
    return { large }
  }
  const encoded = encodePack(objects)
  const path = `${aside}/objects/pack/${encoded.name}`
  fs.create(`${path}.pack`, encoded.pack)
  fs.create(`${path}.idx`, encoded.index)
  return { pack: encoded, large: [] }
}

/** Makes the folders and files of a repository without objects that are missing, or torn by a power cut. Does not sync. */
export function layOut(fs: Fs, gitdir: string, refs: Iterable<readonly [string, Oid]>, head: string): void {
  for (const folder of ['', '/objects/pack', '/refs']) {
    if (!fs.stat(`${gitdir}${folder}`)) fs.makeDir(`${gitdir}${folder}`)
  }
  const files = { HEAD: `ref: refs/heads/${head}\n`, config: BARE_CONFIG, 'packed-refs': packedRefs(refs) }
  for (const [name, content] of Object.entries(files)) {
    const path = `${gitdir}/${name}`
    if (fs.stat(path)) {
      if (!isTorn(fs.readFile(path)?.toString('latin1') ?? '', content)) continue
      fs.remove(path)
    }
    fs.create(path, Buffer.from(content))
  }
}

/** Whether a file looks like one that was written and not synced before a power cut: its beginning, or zeros in its place. */
function isTorn(found: string, written: string): boolean {
  return found.includes('\0') || (found !== written && written.startsWith(found))
}

/** git-pack-refs(1): sorted by name. None of ours is an annotated tag, so there are no peeled lines. */
function packedRefs(refs: Iterable<readonly [string, Oid]>): string {
  const lines = [...refs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, oid]) => `${oid} ${name}\n`)
  return `# pack-refs with: peeled fully-peeled sorted \n${lines.join('')}`
}
