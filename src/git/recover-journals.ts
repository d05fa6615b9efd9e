import { dirname } from 'node:path/posix'
import { deleteRefFiles } from './delete-ref-files.ts'
import { finishJournal } from './finish-journal.ts'
import type { Fs } from './fs.ts'
import { JOURNAL_FOLDER } from './journal-folder.ts'
import { keepNotes } from './journal-notes.ts'
import type { JournalRecord, JournalWrite } from './journal-record.ts'
import { decodeRecords } from './journal-record.ts'
import type { ProcessIdentity } from './process-identity.ts'
import { isDead, parseIdentity, thisProcess } from './process-identity.ts'
import { refPath } from './ref-name.ts'
import { restorePack } from './restore-pack.ts'
import { syncTouched } from './sync-touched.ts'

/** A journal of another host that nobody wrote to for so long (milliseconds) has no owner any more. */
const ABANDONED = 5 * 60 * 1000

/**
 * Takes care of the journals that dead processes left in a store. Where the machine has not been restarted since, everything
 * they answered for is in the page cache, and is synced; what they decided is finished. After a restart it may be gone or torn:
 * packs are put back, and refs moved on to where the journals say. Journals of live processes are left alone.
 */
export async function recoverJournals(fs: Fs, store: string): Promise<void> {
  const folder = `${store}/${JOURNAL_FOLDER}`
  const paths = (fs.readDir(folder) ?? []).map((name) => ({
    path: `${folder}/${name}`,
    owner: parseIdentity(name),
  }))
  const left = paths
    .filter(({ path, owner }) => owner && isLeft(fs, path, owner))
    .sort((a, b) => modified(fs, a.path) - modified(fs, b.path))
  if (left.length > 0) await fs.syncDir(folder)
  // In the order in which they happened, as far as their processes shared a clock.
  const starts = new Map<string, JournalRecord[]>()
  for (const { path, owner } of left) {
    const boot = owner?.boot ?? ''
    const records =
      owner && isThisStart(owner)
        ? await finishJournal(fs, store, path, owner)
        : await restorePacks(fs, store, path)
    starts.set(boot, [...(starts.get(boot) ?? []), ...records])
  }
  const records = [...starts.values()].flatMap((start) => start.sort((a, b) => a.at - b.at))
  const writes = writesIn(fs, store, records)
  if (left.some(({ owner }) => !isThisStart(owner))) await restoreRefs(fs, store, writes)
  await syncTouched(fs, store, writes)
  const notes = records.flatMap((record) => record.notes ?? [])
  await keepNotes(fs, store, notes)
  for (const { path } of left) fs.remove(path)
}

/** Puts back what a journal of before the machine's restart holds of packs; answers its records. */
async function restorePacks(fs: Fs, store: string, path: string): Promise<readonly JournalRecord[]> {
  const records = decodeRecords(fs.readFile(path) ?? Buffer.alloc(0))
  for (const write of writesIn(fs, store, records)) await restorePack(fs, store, write)
  return records
}

/** Whether the machine was not restarted since. */
function isThisStart(owner: ProcessIdentity | undefined): boolean {
  return owner?.boot === thisProcess().boot
}

/** What was written to repositories that are there still. */
function writesIn(fs: Fs, store: string, records: readonly JournalRecord[]): JournalWrite[] {
  return records.flatMap(({ writes }) => writes).filter(({ repository }) => fs.stat(`${store}/${repository}`))
}

function isLeft(fs: Fs, path: string, owner: ProcessIdentity): boolean {
  return isDead(owner) || (owner.host !== thisProcess().host && Date.now() - modified(fs, path) > ABANDONED)
}

function modified(fs: Fs, path: string): number {
  return fs.stat(path)?.modified ?? 0
}

async function restoreRefs(fs: Fs, store: string, writes: readonly JournalWrite[]): Promise<void> {
  const trails = new Map<string, Trail>()
  for (const { repository, moves } of writes) {
    for (const { ref, expected = NONE, target = NONE } of moves) {
      // A move to where the ref is already leads nowhere.
      if (expected === target) continue
      const gitdir = `${store}/${repository}`
      const path = refPath(gitdir, ref)
      const trail = trails.get(path) ?? { gitdir, ref, values: new Set(), end: target }
      trail.values.add(expected).add(target)
      trail.end = target
      trails.set(path, trail)
    }
  }
  for (const [path, { gitdir, ref, values, end }] of trails) {
    const current = valueOf(fs, gitdir, ref)
    // Where it never was on this trail, somebody set it later.
    if (current === end || (current !== TORN && !values.has(current))) continue
    if (end === NONE) await deleteRefFiles(fs, gitdir, [ref])
    else setRef(fs, path, end)
  }
}

/** Where the journals saw a ref. */
interface Trail {
  readonly gitdir: string
  readonly ref: string
  readonly values: Set<string>
  end: string
}

const NONE = ''
const TORN = 'torn'

/** What a ref holds, loose or packed; NONE if it does not exist, TORN if its file was cut off by the crash. */
function valueOf(fs: Fs, gitdir: string, ref: string): string {
  const loose = fs.readFile(refPath(gitdir, ref))?.toString('utf8')
  if (loose !== undefined) return /^(?:[0-9a-f]{40}|ref: \S+)\n$/.test(loose) ? loose.trimEnd() : TORN
  if (ref === 'HEAD') return TORN
  const packed = fs.readFile(`${gitdir}/packed-refs`)?.toString('utf8') ?? ''
  const line = packed.split('\n').find((candidate) => candidate.endsWith(` ${ref}`))
  return line?.slice(0, 40) ?? NONE
}

function setRef(fs: Fs, path: string, value: string): void {
  fs.makeDir(dirname(path))
  const temporary = `${path}.lock`
  fs.remove(temporary)
  fs.create(temporary, Buffer.from(`${value}\n`))
  fs.rename(temporary, path)
}
