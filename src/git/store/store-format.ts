import { Refusal } from '../../errors.ts'
import {
  createDurableFolder,
  type Fs,
  type ProcessIdentity,
  identityName,
  parseIdentity,
  thisProcess,
} from '../../storage/files.ts'
import { JOURNAL_FOLDER } from '../journal/journal-record.ts'

/** The layout that this code writes, named in the store's file `format`: texts of prompts may be in files of their own (interface 7.16). */
const FORMAT = '2'
/** The previous layout, which differs only in this. */
const PREVIOUS_FORMAT = '1'

/** Creates an empty store at `dir` if there is none; refuses an unknown layout. */
export async function makeStore(fs: Fs, dir: string): Promise<void> {
  const format = formatAt(fs, dir)
  if (format === undefined) {
    await createDurableFolder(fs, dir)
    await writeFormat(fs, dir, (temporary) => linkUnlessThere(fs, temporary, `${dir}/format`))
  } else if (format !== FORMAT && format !== PREVIOUS_FORMAT)
    throw new Refusal(
      'storage_unavailable',
      `The store at ${dir} has format "${format}"; this version reads formats "${PREVIOUS_FORMAT}" and "${FORMAT}". Use the version that made it.`,
    )
}

/**
 * Marks the store as having the current layout, so that earlier servers do not misread new writes; a running one without writes ends when it
 * sees this. Refuses while another process has written to the store. Answers whether the store was changed.
 */
export async function bringUp(fs: Fs, dir: string): Promise<boolean> {
  if (formatAt(fs, dir) === FORMAT) return false
  const other = (fs.readDir(`${dir}/${JOURNAL_FOLDER}`) ?? []).map(parseIdentity).find(isOther)
  if (other)
    throw new Refusal(
      'storage_unavailable',
      `The store at ${dir} has format "${PREVIOUS_FORMAT}", and process ${other.pid} on ${other.host} is writing to it. Stop that one, and start ` +
        `again: this version writes format "${FORMAT}", which versions before it do not read.`,
    )
  const next = `${dir}/.format.next`
  await writeFormat(fs, dir, (temporary) => {
    linkUnlessThere(fs, temporary, next)
    // Servers that start together share one file, by which an open store is recognised.
    if (formatAt(fs, dir) === FORMAT) fs.remove(next)
    else if (fs.stat(next)) fs.rename(next, `${dir}/format`)
  })
  return true
}

function formatAt(fs: Fs, dir: string): string | undefined {
  return fs.readFile(`${dir}/format`)?.toString('utf8').trim()
}

function isOther(owner: ProcessIdentity | undefined): owner is ProcessIdentity {
  return owner !== undefined && identityName(owner) !== identityName(thisProcess())
}

/** Writes the file atomically, because a truncated one would name an unknown layout. `place` moves the complete file to its place. */
async function writeFormat(fs: Fs, dir: string, place: (temporary: string) => void): Promise<void> {
  const temporary = `${dir}/.format.${identityName(thisProcess())}`
  fs.remove(temporary) // left by an earlier attempt of this process
  await fs.createSynced(temporary, Buffer.from(`${FORMAT}\n`))
  try {
    place(temporary)
  } finally {
    fs.remove(temporary)
  }
  await fs.syncDir(dir)
}

/**
 * Links the file unless it exists: servers that open a new store together must share one file, by which the store is recognised (see
 * StoreGuard).
 */
function linkUnlessThere(fs: Fs, from: string, to: string): void {
  try {
    fs.link(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
