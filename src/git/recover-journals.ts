import { dirname } from 'node:path/posix'
import type { Fs } from './fs.ts'
import { JOURNAL_FOLDER } from './journal.ts'
import type { JournalRecord } from './journal-record.ts'
import { decodeRecords } from './journal-record.ts'
import type { ProcessIdentity } from './process-identity.ts'
import { isDead, parseIdentity, thisProcess } from './process-identity.ts'
import { syncTouched } from './sync-touched.ts'

/** A journal of another host that nobody wrote to for so long (milliseconds) has no owner any more. */
const ABANDONED = 5 * 60 * 1000

/**
 * Takes care of the journals that dead processes left in a store. Where the machine has not been restarted since, everything
 * they answered for is in the page cache, and is synced. After a restart it may be gone or torn: packs are put back, and refs
 * moved on to where the journals say. Journals of live processes are left alone.
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
  const records: JournalRecord[] = []
  for (const { path, owner } of left) {
    const read = decodeRecords(fs.readFile(path) ?? Buffer.alloc(0)).filter(({ repository }) =>
      fs.stat(`${store}/${repository}`),
    )
    records.push(...read)
    if (owner?.boot === thisProcess().boot) continue
    for (const record of read) await restorePack(fs, store, record)
  }
  const lost = left.some(({ owner }) => owner?.boot !== thisProcess().boot)
  if (lost) restoreRefs(fs, store, records)
  await syncTouched(fs, store, records)
  for (const { path } of left) fs.remove(path)
}

function isLeft(fs: Fs, path: string, owner: ProcessIdentity): boolean {
  return isDead(owner) || (owner.host !== thisProcess().host && Date.now() - modified(fs, path) > ABANDONED)
}

function modified(fs: Fs, path: string): number {
  return fs.stat(path)?.modified ?? 0
}

async function restorePack(fs: Fs, store: string, { repository, pack }: JournalRecord): Promise<void> {
  if (!pack) return
  const folder = `${store}/${repository}/objects/pack`
  if (!fs.stat(folder)) fs.makeDir(folder)
  // The index last: until it is there, nobody takes the pack for one.
  for (const [name, bytes] of [
    [`${pack.name}.pack`, pack.pack],
    [`${pack.name}.idx`, pack.index],
  ] as const) {
    if (fs.readFile(`${folder}/${name}`)?.equals(bytes)) continue
    fs.remove(`${folder}/tmp_${name}`)
    await fs.createSynced(`${folder}/tmp_${name}`, bytes)
    fs.rename(`${folder}/tmp_${name}`, `${folder}/${name}`)
  }
}

function restoreRefs(fs: Fs, store: string, records: readonly JournalRecord[]): void {
  const chains = new Map<string, Map<string, string>>()
  for (const { repository, moves } of records) {
    for (const { ref, expected, target } of moves) {
      // A move to where the ref is already leads nowhere.
      if (expected === target) continue
      const path = `${store}/${repository}/${ref}`
      const steps = chains.get(path) ?? new Map<string, string>()
      // Of two moves from the same value the later one happened: it could not have if the earlier one had.
      chains.set(path, steps.set(expected ?? NONE, target))
    }
  }
  for (const [path, steps] of chains) {
    const current = valueOf(fs, path)
    const last = current === TORN ? endOf(steps) : follow(steps, current)
    if (last === current || last === NONE) continue
    fs.makeDir(dirname(path))
    const temporary = `${path}.lock`
    fs.remove(temporary)
    fs.create(temporary, Buffer.from(`${last}\n`))
    fs.rename(temporary, path)
  }
}

const NONE = ''
const TORN = 'torn'

/** What a ref holds, loose or packed; NONE if it does not exist, TORN if its file was cut off by the crash. */
function valueOf(fs: Fs, path: string): string {
  const loose = fs.readFile(path)?.toString('utf8')
  if (loose !== undefined) return /^(?:[0-9a-f]{40}|ref: \S+)\n$/.test(loose) ? loose.trimEnd() : TORN
  if (path.endsWith('/HEAD')) return TORN
  const at = path.lastIndexOf('.git/refs/') + '.git'.length
  const packed = fs.readFile(`${path.slice(0, at)}/packed-refs`)?.toString('utf8') ?? ''
  const name = path.slice(at + 1)
  const line = packed.split('\n').find((candidate) => candidate.endsWith(` ${name}`))
  return line?.slice(0, 40) ?? NONE
}

/** Where the moves lead from a value; the value itself if none begins there: somebody set it later. */
function follow(steps: ReadonlyMap<string, string>, from: string): string {
  let value = from
  for (let count = 0; count <= steps.size; count++) {
    const next = steps.get(value)
    if (next === undefined) return value
    value = next
  }
  return from
}

/** The end of a chain whose current link is unreadable. */
function endOf(steps: ReadonlyMap<string, string>): string {
  const targets = new Set(steps.values())
  const start = [...steps.keys()].find((value) => !targets.has(value))
  return start === undefined ? ([...steps.values()].at(-1) ?? NONE) : follow(steps, start)
}
