import { z } from 'zod'
import { Refusal } from '../errors.ts'
import { parsedOrUndefined } from '../json/json-values.ts'
import type { Changed, Documents, DocumentWriter, HowToPut } from './documents/documents.ts'
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
    return bytes && this.#recordIn(bytes, path)
  }

  /** There is a file, but it is not what should be there. */
  damaged(path: string, why = ''): Refusal {
    return new Refusal('storage_unavailable', this.#kind.damage(path, why))
  }

  /** Puts a record in place of what a document holds. `mayBeLost` is as in HowToPut. */
  put(
    documents: DocumentWriter,
    path: string,
    record: T,
    how: Pick<HowToPut, 'mayBeLost'> = {},
  ): Promise<void> {
    return documents.put(path, this.#bytesOf(record), { ...how, mode: this.#kind.mode })
  }

  /**
   * Replaces a record by what `change` makes of it, and answers what that answers; see Documents. What `change` answers no record for stays.
   * A file that holds something else is refused, or told to `onDamage` and taken for absent.
   */
  update<R>(
    documents: Documents,
    path: string,
    change: (before: T | undefined) => ChangedRecord<T, R> | Promise<ChangedRecord<T, R>>,
    { onDamage, lease }: { readonly onDamage?: (error: unknown) => void; readonly lease?: string } = {},
  ): Promise<R> {
    const read = (bytes: Buffer | undefined): T | undefined => {
      try {
        return bytes && this.#recordIn(bytes, path)
      } catch (error) {
        if (!onDamage) throw error
        onDamage(error)
        return undefined
      }
    }
    const changed = async (bytes: Buffer | undefined): Promise<Changed<R>> => {
      const { record, answer } = await change(read(bytes))
      return { bytes: record && this.#bytesOf(record), answer }
    }
    return documents.update(path, changed, {
      mode: this.#kind.mode,
      ...(lease === undefined ? {} : { lease }),
    })
  }

  #bytesOf(record: T): Buffer {
    return Buffer.from(`${JSON.stringify(record, null, this.#kind.indent)}\n`)
  }

  #recordIn(bytes: Buffer, path: string): T {
    const read = this.#kind.schema.safeParse(parsedOrUndefined(bytes))
    if (read.success) return read.data
    throw this.damaged(path, z.prettifyError(read.error))
  }
}

/** What `update` is to do: put this record there, or leave it as it is. */
export interface ChangedRecord<T, R> {
  readonly record?: T | undefined
  readonly answer: R
}
