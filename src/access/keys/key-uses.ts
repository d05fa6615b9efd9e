import { z } from 'zod'
import { documentsOf, type Fs, JsonRecordFile } from '../../storage/files.ts'

const MS_BETWEEN_WRITES = 60_000

const storedUses = z.strictObject({ format: z.literal(1), uses: z.record(z.uuid(), z.iso.datetime()) })
type StoredUses = z.infer<typeof storedUses>

const usesFile = new JsonRecordFile<StoredUses>({
  schema: storedUses,
  damage: (path) => `${path} is not a list of uses. Nothing but when keys were used is lost: remove it.`,
  indent: 2,
})

/**
 * When each key was last used, on any server of the store. Kept in memory and saved once a minute, so that requests cost nothing more. A
 * crash loses the last minute. An unreadable or unwritable file makes no request fail.
 */
export class KeyUses {
  readonly #fs: Fs
  readonly #storeDir: string
  readonly #now: () => Date
  /** By project and key id, in milliseconds since 1970. */
  readonly #seen = new Map<string, Map<string, number>>()
  readonly #timer: NodeJS.Timeout

  constructor(fs: Fs, storeDir: string, now: () => Date) {
    this.#fs = fs
    this.#storeDir = storeDir
    this.#now = now
    this.#timer = setInterval(() => void this.#write(), MS_BETWEEN_WRITES).unref()
  }

  /** Notes that a request used this key. */
  note(project: string, id: string): void {
    let uses = this.#seen.get(project)
    if (!uses) this.#seen.set(project, (uses = new Map()))
    uses.set(id, this.#now().getTime())
  }

  /** When the project's keys were last used, by id, as ISO 8601. */
  of(project: string): ReadonlyMap<string, string> {
    return toIso(this.#merged(project, this.#read(project)))
  }

  /** Saves what is unsaved, and then no more. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#write()
  }

  async #write(): Promise<void> {
    for (const project of [...this.#seen.keys()]) {
      try {
        await this.#writeOf(project)
      } catch {
        // The store is unavailable or full; the next write includes these uses.
      }
    }
  }

  async #writeOf(project: string): Promise<void> {
    const written = await usesFile.update(
      documentsOf(this.#fs),
      this.#path(project),
      (before) => {
        const uses = Object.fromEntries(toIso(this.#merged(project, before)))
        return { record: { format: 1, uses }, answer: uses }
      },
      { onDamage: () => undefined },
    )
    const seen = this.#seen.get(project)
    // Uses that came meanwhile are not in the file yet.
    for (const [id, time] of seen ?? []) if (written[id] === new Date(time).toISOString()) seen?.delete(id)
    if (seen?.size === 0) this.#seen.delete(project)
  }

  /** The later of the file's time and the time in memory, for each key. */
  #merged(project: string, { uses = {} }: Partial<StoredUses> = {}): Map<string, number> {
    const merged = new Map(Object.entries(uses).map(([id, time]) => [id, Date.parse(time)]))
    for (const [id, time] of this.#seen.get(project) ?? [])
      merged.set(id, Math.max(time, merged.get(id) ?? 0))
    return merged
  }

  #read(project: string): StoredUses | undefined {
    try {
      return usesFile.read(this.#fs, this.#path(project))
    } catch {
      return undefined
    }
  }

  #path(project: string): string {
    return `${this.#storeDir}/${project}/key-uses.json`
  }
}

function toIso(uses: ReadonlyMap<string, number>): Map<string, string> {
  return new Map([...uses].map(([id, time]) => [id, new Date(time).toISOString()]))
}
