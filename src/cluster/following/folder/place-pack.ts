import { Refusal } from '../../../errors.ts'
import type { Fs } from '../../../storage/files.ts'
import { CorruptObject } from '../../../git/objects.ts'
import { indexBytes } from './index-bytes.ts'
import { gitEnvironment, runGit } from '../../../git/program.ts'
import { StagedPack } from '../../../git/packs.ts'
import { type LoggedPack, NotInLog, type SharedLog } from '../shared-log.ts'

/** The repository that a pack belongs to. */
export interface PackPlace {
  readonly gitdir: string
  /** The repository's name in the log. */
  readonly repository: string
}

/** Adds a pack of the log to a repository's folder unless it is there, and makes its index. Not synced, because the folder is a copy. */
export async function placePack(
  fs: Fs,
  log: SharedLog,
  { gitdir, repository }: PackPlace,
  { name, bytes }: LoggedPack,
): Promise<void> {
  if (fs.stat(`${gitdir}/objects/pack/${name}.idx`)) return
  const index = bytes && indexOf(name, bytes)
  const staged = new StagedPack(fs, gitdir)
  staged.name = name
  try {
    if (bytes && index) {
      fs.create(staged.packPath, bytes)
      fs.create(staged.indexPath, index)
    } else {
      const pieces = bytes ? [bytes] : await log.readPack(repository, name)
      if (!pieces) throw new NotInLog(`${name} of ${repository}`)
      await writeTo(fs, staged.packPath, pieces)
      await indexFile(fs, gitdir, name, staged)
    }
    // No `.keep` file, which would protect objects that no ref needs yet: the refs are set right after.
    staged.publish()
  } catch (error) {
    staged.discard()
    throw error
  }
}

const SMALL_PACKS_IN_MEMORY = 16

/** Adds the missing packs, and reads small ones from the log together. */
export async function placePacks(
  fs: Fs,
  log: SharedLog,
  place: PackPlace,
  names: readonly string[],
): Promise<void> {
  const lacking = names.filter((name) => !fs.stat(`${place.gitdir}/objects/pack/${name}.idx`))
  for (let at = 0; at < lacking.length; at += SMALL_PACKS_IN_MEMORY) {
    const slice = lacking.slice(at, at + SMALL_PACKS_IN_MEMORY)
    const small = await log.smallPacks(place.repository, slice)
    for (const name of slice) await placePack(fs, log, place, { name, bytes: small.get(name) })
  }
}

async function writeTo(
  fs: Fs,
  path: string,
  pieces: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<void> {
  const file = fs.createFile(path)
  try {
    for await (const piece of pieces) file.append(piece)
  } finally {
    file.close()
  }
}

/** Makes the index of a pack that may be large or have deltas: with git, or, in a memory file system that git cannot see, here. */
async function indexFile(
  fs: Fs,
  gitdir: string,
  name: string,
  { packPath, indexPath }: { readonly packPath: string; readonly indexPath: string },
): Promise<void> {
  if (!fs.isSeenByOthers) {
    const index = indexOf(name, fs.readFile(packPath) ?? Buffer.alloc(0))
    if (!index) throw damaged(name, 'it holds deltas, which are not read in memory')
    fs.create(indexPath, index)
    return
  }
  const settings = { 'core.fsync': 'none', 'pack.writeReverseIndex': 'false' }
  const { code, complaint, output } = await runGit({
    args: [`--git-dir=${gitdir}`, 'index-pack', '-o', indexPath, packPath],
    env: gitEnvironment(settings),
  })
  if (code !== 0) throw damaged(name, complaint)
  if (output.trim() !== name.slice('pack-'.length)) throw damaged(name, `its checksum is ${output.trim()}`)
}

/** As `indexBytes`, but a damaged pack is a Refusal. */
function indexOf(name: string, bytes: Buffer): Buffer | undefined {
  try {
    return indexBytes(name, bytes)
  } catch (error) {
    if (error instanceof CorruptObject) throw damaged(name, error.message)
    throw error
  }
}

function damaged(name: string, why: string): Refusal {
  return new Refusal(
    'damaged_repository',
    `${name} came from the database as something else than it is: ${why}.`,
  )
}
