import { z } from 'zod'
import { Refusal } from '../../errors.ts'
import { parsedOrUndefined } from '../../base/json.ts'
import type { Changed, Documents, DocumentWriter, HowToPut } from './documents.ts'
import type { Fs } from './fs.ts'

/** A kind of file. */
export interface JsonRecordKind<T> {
  readonly schema: z.ZodType<T>
  /** The error message for an invalid file, with what it should hold and what to do; `why` is the problem. */
  readonly damage: (path: string, why: string) => string
  /** For files that people read. */
  readonly indent?: 2
  /** For private files. */
  readonly mode?: number
}

/** Files of one kind, each with one JSON record. */
export class JsonRecordFile<T> {
  readonly #kind: JsonRecordKind<T>

  constructor(kind: JsonRecordKind<T>) {
    this.#kind = kind
  }

  /** The record in a file; undefined if there is no file. Refuses a file with other content, by its path. */
  read(fs: Fs, path: string): T | undefined {
    const bytes = fs.readFile(path)
    return bytes && this.#recordIn(bytes, path)
  }

  /** The refusal of an invalid file. */
  damaged(path: string, why = ''): Refusal {
    return new Refusal('storage_unavailable', this.#kind.damage(path, why))
  }

  /** Replaces a document by a record. `mayBeLost` is as in HowToPut. */
  put(
    documents: DocumentWriter,
    path: string,
    record: T,
    how: Pick<HowToPut, 'mayBeLost'> = {},
  ): Promise<void> {
    return documents.put(path, this.#bytesOf(record), { ...how, mode: this.#kind.mode })
  }

  /**
   * Replaces a record by the result of `change`, and resolves to its answer; see Documents. Without a record in the result, the file stays
   * unchanged. An invalid file is refused, or reported to `onDamage` and treated as absent.
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

/** The result of a `change` function: a new record, or none to leave the file unchanged. */
export interface ChangedRecord<T, R> {
  readonly record?: T | undefined
  readonly answer: R
}
