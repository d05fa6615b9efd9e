import { Refusal } from '../errors.ts'
import { createDurableFolder } from '../storage/durable-folder.ts'
import type { Fs } from '../storage/fs.ts'
import type { ProcessIdentity } from '../storage/process-identity.ts'
import { identityName, parseIdentity, thisProcess } from '../storage/process-identity.ts'
import { JOURNAL_FOLDER } from './journal/journal-record.ts'

/** The layout this code writes, kept in the file `format` of a store: texts of prompts may lie in files (interface 7.16). */
const FORMAT = '2'
/** The one of before, of which nothing else is different. */
const BEFORE = '1'

/** Makes an empty store at `dir` if there is nothing; refuses a layout that this code does not know. */
export async function makeStore(fs: Fs, dir: string): Promise<void> {
  const format = formatAt(fs, dir)
  if (format === undefined) {
    await createDurableFolder(fs, dir)
    await writeFormat(fs, dir, (temporary) => linkUnlessThere(fs, temporary, `${dir}/format`))
  } else if (format !== FORMAT && format !== BEFORE)
    throw new Refusal(
      'storage_unavailable',
      `The store at ${dir} has format "${format}"; this version reads formats "${BEFORE}" and "${FORMAT}". Use the version that made it.`,
    )
}

/**
 * Has the store say that it is of the present layout, so that no server of before takes what is written now for something else; one that
 * runs without a write yet ends when it sees that. Refuses while another process has written to it. Answers whether that was to be done.
 */
export async function bringUp(fs: Fs, dir: string): Promise<boolean> {
  if (formatAt(fs, dir) === FORMAT) return false
  const other = (fs.readDir(`${dir}/${JOURNAL_FOLDER}`) ?? []).map(parseIdentity).find(isOther)
  if (other)
    throw new Refusal(
      'storage_unavailable',
      `The store at ${dir} has format "${BEFORE}", and process ${other.pid} on ${other.host} is writing to it. Stop that one, and start ` +
        `again: this version writes format "${FORMAT}", which versions before it do not read.`,
    )
  const next = `${dir}/.format.next`
  await writeFormat(fs, dir, (temporary) => {
    linkUnlessThere(fs, temporary, next)
    // Servers that start together share one file: who has the store open knows it by that.
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

/**
 * In one step: a file that a crash cut off would say that the store has a format nobody knows. `place` puts the whole file where it
 * belongs.
 */
async function writeFormat(fs: Fs, dir: string, place: (temporary: string) => void): Promise<void> {
  const temporary = `${dir}/.format.${identityName(thisProcess())}`
  fs.remove(temporary) // what this very process could not put in its place
  await fs.createSynced(temporary, Buffer.from(`${FORMAT}\n`))
  try {
    place(temporary)
  } finally {
    fs.remove(temporary)
  }
  await fs.syncDir(dir)
}

/** Of servers that open a new store together the first makes the file, and the others leave it: the store is known by it (see StoreGuard). */
function linkUnlessThere(fs: Fs, from: string, to: string): void {
  try {
    fs.link(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
