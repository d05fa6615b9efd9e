import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SeededRandom } from '../../../test/support/values/seeded-random.ts'

/** The parts of an index file as a killed server left them; undefined where there is none. */
export interface KeptIndex {
  readonly db: Buffer | undefined
  readonly wal: Buffer | undefined
  readonly shm: Buffer | undefined
}

/** What may have become of it. `killed`: the process died; `power`: what a power cut may leave; `flipped`: what no disk should do. */
export type IndexHarm = 'killed' | 'power' | 'flipped'

const NAMES = { db: 'index.db', wal: 'index.db-wal', shm: 'index.db-shm' } as const

/** Reads what lies in a project's folder. */
export function keepIndex(folder: string): KeptIndex {
  const read = (name: string): Buffer | undefined =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name)) : undefined
  return { db: read(NAMES.db), wal: read(NAMES.wal), shm: read(NAMES.shm) }
}

/** Puts it in the place of what lies there. */
export function putIndex(folder: string, { db, wal, shm }: Partial<KeptIndex>): void {
  for (const [name, bytes] of [
    [NAMES.db, db],
    [NAMES.wal, wal],
    [NAMES.shm, shm],
  ] as const) {
    rmSync(join(folder, name), { force: true })
    if (bytes) writeFileSync(join(folder, name), bytes)
  }
}

/** A state that this harm may leave of it, and a sentence that says which. */
export function harmed(
  kept: KeptIndex,
  harm: IndexHarm,
  random: SeededRandom,
): { readonly index: Partial<KeptIndex>; readonly told: string } {
  if (harm === 'killed') return { index: kept, told: 'as the killed server left it' }
  if (harm === 'power') return cut(kept, random)
  return flipped(kept, random)
}

const WAL_HEADER = 32
const FRAME_HEADER = 24

/**
 * The log without what was not synced: of what was put into the file already, all of it was. What is missing is not there, is zeros, or is what
 * lay there before; the shared memory is gone.
 */
function cut({ db, wal, shm }: KeptIndex, random: SeededRandom): ReturnType<typeof harmed> {
  if (!wal || wal.length < WAL_HEADER) return { index: { db, wal }, told: 'without its shared memory' }
  const frame = FRAME_HEADER + wal.readUInt32BE(8)
  // Written by the machine in its own order, as WalIndexHdr (twice 48 bytes) and then WalCkptInfo.nBackfill.
  const synced = WAL_HEADER + (shm ? shm.readUInt32LE(96) : 0) * frame
  const frames = Math.floor((wal.length - synced) / frame)
  const at = synced + random.below(frames + 1) * frame + (random.once(2) ? random.below(frame) : 0)
  const how = random.pick(['ends', 'is zeros', 'is torn'] as const)
  const rest = Buffer.alloc(Math.max(0, wal.length - at))
  if (how === 'is torn') for (let byte = 0; byte < rest.length; byte++) rest[byte] = random.below(256)
  const left = how === 'ends' ? wal.subarray(0, at) : Buffer.concat([wal.subarray(0, at), rest])
  return { index: { db, wal: left }, told: `the log ${how} from byte ${at} of ${wal.length}` }
}

/** Some bytes of the file or its log are others. */
function flipped({ db, wal, shm }: KeptIndex, random: SeededRandom): ReturnType<typeof harmed> {
  const parts = { db: db && Buffer.from(db), wal: wal && Buffer.from(wal) }
  const told: string[] = []
  for (let left = random.pick([1, 1, 3, 30]); left > 0; left--) {
    const name = random.once(3) ? 'wal' : 'db'
    const bytes = parts[name]
    if (!bytes?.length) continue
    // The first page says what the others are.
    const at = random.once(6) ? random.below(Math.min(bytes.length, 4096)) : random.below(bytes.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8))
    if (told.length < 3) told.push(`${name} ${at}`)
  }
  if (random.once(8) && parts.db) {
    parts.db = parts.db.subarray(0, random.below(parts.db.length))
    told.push(`db ends at ${parts.db.length}`)
  }
  return { index: { ...parts, ...(random.once(2) ? { shm } : {}) }, told: `flipped: ${told.join(', ')}` }
}
