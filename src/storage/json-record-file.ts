import { z } from 'zod'
import { Refusal } from '../errors.ts'
import { parsedOrUndefined } from '../json/json-values.ts'
import type { Fs } from './fs.ts'

/** What a kind of files holds. */
export interface JsonRecordKind<T> {
  readonly schema: z.ZodType<T>
  /** Says of a file that holds something else what it should hold and what to do; `why` is what is wrong with it. */
  readonly damage: (path: string, why: string) => string
  /** Laid out for people who look into it. */
  readonly indent?: 2
  /** Of a file that is not for everybody. */
  readonly mode?: number
}

/** Files of one kind, each with one record of ours as JSON. */
export class JsonRecordFile<T> {
  readonly #kind: JsonRecordKind<T>

  constructor(kind: JsonRecordKind<T>) {
    this.#kind = kind
  }

  /** The record in a file; undefined if there is none. Refuses a file that holds something else, by its path. */
  read(fs: Fs, path: string): T | undefined {
    const bytes = fs.readFile(path)
    if (!bytes) return undefined
    const read = this.#kind.schema.safeParse(parsedOrUndefined(bytes))
    if (read.success) return read.data
    throw this.damaged(path, z.prettifyError(read.error))
  }

  /** There is a file, but it is not what should be there. */
  damaged(path: string, why = ''): Refusal {
    return new Refusal('storage_unavailable', this.#kind.damage(path, why))
  }

  /** Puts a record in a file as `replaceFile` does. */
  replace(fs: Fs, path: string, record: T): Promise<void> {
    const { indent, mode } = this.#kind
    return replaceFile(fs, path, Buffer.from(`${JSON.stringify(record, null, indent)}\n`), mode)
  }
}

/**
 * Puts bytes in place of what a file holds, in one step. After a power cut it holds one or the other; sync the folder to be sure of the
 * new one. One process at a time may do this to a file: call it under a lock.
 */
export async function replaceFile(fs: Fs, path: string, bytes: Uint8Array, mode?: number): Promise<void> {
  const temporary = `${path}.new`
  fs.remove(temporary) // what a process that died under the lock left
  await fs.createSynced(temporary, bytes, mode)
  fs.rename(temporary, path)
}
