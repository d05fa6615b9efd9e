import { z } from 'zod'
import type { Fs } from '../storage/fs.ts'
import { JsonRecordFile } from '../storage/json-record-file.ts'
import { holdingLock } from '../storage/lock-file.ts'

/** How often uses are written down, in milliseconds. */
const WRITE_EVERY = 60_000

const usesFile = new JsonRecordFile({
  schema: z.strictObject({ format: z.literal(1), uses: z.record(z.uuid(), z.iso.datetime()) }),
  damage: (path) => `${path} is not a list of uses. Nothing but when keys were used is lost: remove it.`,
  indent: 2,
})

/**
 * When each key was used last, of all servers on the store: kept in memory and written down once a minute, so that a request costs nothing
 * more. A crash loses the last minute, and a file that cannot be read or written loses no request.
 */
export class KeyUses {
  readonly #fs: Fs
  readonly #storeDir: string
  readonly #now: () => Date
  /** By project, by the key's id: milliseconds since 1970. */
  readonly #seen = new Map<string, Map<string, number>>()
  readonly #timer: NodeJS.Timeout

  constructor(fs: Fs, storeDir: string, now: () => Date) {
    this.#fs = fs
    this.#storeDir = storeDir
    this.#now = now
    this.#timer = setInterval(() => void this.#write(), WRITE_EVERY).unref()
  }

  /** A request came with this key. */
  note(project: string, id: string): void {
    let uses = this.#seen.get(project)
    if (!uses) this.#seen.set(project, (uses = new Map()))
    uses.set(id, this.#now().getTime())
  }

  /** When the project's keys were used last, by their ids, as ISO 8601. */
  of(project: string): ReadonlyMap<string, string> {
    return new Map([...this.#merged(project)].map(([id, time]) => [id, new Date(time).toISOString()]))
  }

  /** Writes down what is not yet, and nothing more afterwards. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#write()
  }

  async #write(): Promise<void> {
    for (const project of [...this.#seen.keys()]) {
      const folder = `${this.#storeDir}/${project}`
      try {
        // Another server may write its own at the same time.
        await holdingLock(this.#fs, folder, 'key-uses', () => this.#replace(project))
      } catch {
        // The store is away or full; what was seen is written down the next time.
      }
    }
  }

  async #replace(project: string): Promise<void> {
    const seen = this.#seen.get(project)
    const uses = Object.fromEntries(this.of(project))
    await usesFile.replace(this.#fs, this.#path(project), { format: 1, uses })
    // What came meanwhile is not in the file yet.
    for (const [id, time] of seen ?? []) if (uses[id] === new Date(time).toISOString()) seen?.delete(id)
    if (seen?.size === 0) this.#seen.delete(project)
  }

  /** What the file says and what was seen since: of each key the later one. */
  #merged(project: string): Map<string, number> {
    const merged = this.#read(project)
    for (const [id, time] of this.#seen.get(project) ?? [])
      merged.set(id, Math.max(time, merged.get(id) ?? 0))
    return merged
  }

  #read(project: string): Map<string, number> {
    try {
      const { uses = {} } = usesFile.read(this.#fs, this.#path(project)) ?? {}
      return new Map(Object.entries(uses).map(([id, time]) => [id, Date.parse(time)]))
    } catch {
      return new Map()
    }
  }

  #path(project: string): string {
    return `${this.#storeDir}/${project}/key-uses.json`
  }
}
