import { dirname } from 'node:path/posix'
import { deleteRefFiles } from '../refs/packed-refs.ts'
import type { Fs } from '../../storage/fs.ts'
import type { JournalRecord, JournalWrite } from './journal-record.ts'
import { refPath } from '../refs/ref-name.ts'
import { restorePack } from './restore-pack.ts'

/** Does again what these records of one journal tell of, as far as it is not there: packs are put back, and refs moved on. */
export async function redoWrites(fs: Fs, store: string, records: readonly JournalRecord[]): Promise<void> {
  const writes = writesIn(fs, store, records)
  await restorePacks(fs, store, writes)
  await restoreRefs(fs, store, writes)
}

/** What was written to repositories that are there still. */
export function writesIn(fs: Fs, store: string, records: readonly JournalRecord[]): JournalWrite[] {
  return records.flatMap(({ writes }) => writes).filter(({ repository }) => fs.stat(`${store}/${repository}`))
}

/** Puts packs back that are missing or torn. */
export async function restorePacks(fs: Fs, store: string, writes: readonly JournalWrite[]): Promise<void> {
  for (const write of writes) await restorePack(fs, store, write)
}

/** Moves refs on to where the last of these writes left them; one that somebody set elsewhere since stays. */
export async function restoreRefs(fs: Fs, store: string, writes: readonly JournalWrite[]): Promise<void> {
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
  // Read once for each repository: one push may have moved ten thousand refs.
  const packed = new Map<string, ReadonlyMap<string, string>>()
  for (const [path, { gitdir, ref, values, end }] of trails) {
    const packedHere = packed.get(gitdir) ?? packedRefs(fs, gitdir)
    packed.set(gitdir, packedHere)
    const current = valueOf(fs, gitdir, ref, packedHere)
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
function valueOf(fs: Fs, gitdir: string, ref: string, packed: ReadonlyMap<string, string>): string {
  const loose = fs.readFile(refPath(gitdir, ref))?.toString('utf8')
  if (loose !== undefined) return /^(?:[0-9a-f]{40}|ref: \S+)\n$/.test(loose) ? loose.trimEnd() : TORN
  if (ref === 'HEAD') return TORN
  return packed.get(ref) ?? NONE
}

/** What `packed-refs` of a repository says, by ref. */
function packedRefs(fs: Fs, gitdir: string): ReadonlyMap<string, string> {
  const text = fs.readFile(`${gitdir}/packed-refs`)?.toString('utf8') ?? ''
  const lines = text.split('\n').filter((line) => /^[0-9a-f]{40} /.test(line))
  return new Map(lines.map((line): [string, string] => [line.slice(41), line.slice(0, 40)]))
}

function setRef(fs: Fs, path: string, value: string): void {
  fs.makeDir(dirname(path))
  const temporary = `${path}.lock`
  fs.remove(temporary)
  fs.create(temporary, Buffer.from(`${value}\n`))
  fs.rename(temporary, path)
}
