import { Refusal } from '../../../errors.ts'
import type { DatabaseFile } from '../../../storage/sqlite/database-file.ts'
import { isDamage, isStorageTrouble } from '../../../storage/sqlite/sqlite-errors.ts'
import type { Oid } from '../../../git/objects/object.ts'
import type { ArtifactView } from '../../artifacts/artifact-view.ts'
import type { Unreadable } from './find-revisions.ts'
import { findRevisions, unreadableIn } from './find-revisions.ts'
import type { RevisionQuestion, RevisionRow } from './revision-question.ts'
import { bytesOf } from './sql-bytes.ts'
import type { Unsearched } from './unsearched.ts'
import { unsearchedIn } from './unsearched.ts'

/** What has to be done about the file by who writes it. */
export interface IndexWriter {
  /** Resolves once what is being written by now is written. */
  readonly settled: () => Promise<void>
  /** Has a file that is damaged made anew. */
  readonly damaged: (reason: string, file: DatabaseFile) => Promise<void>
}

/** A file that is damaged again and again as soon as it is made is not waited for. */
const MOST_TRIES = 3

/**
 * Answers questions from the index file. Where somebody takes the file away, questions go on with what they have begun with, and later ones
 * get the next file once it has all rows; one that finds its file damaged goes on in the next where it was.
 */
export class IndexReader {
  readonly #writer: IndexWriter
  #file: DatabaseFile | undefined
  #letGo: () => void = () => undefined

  constructor(writer: IndexWriter) {
    this.#writer = writer
  }

  /** The file that has been whole, however old. */
  get file(): DatabaseFile | undefined {
    return this.#file
  }

  /** Has questions answered from this file from now on; without one, they wait for the next. */
  use(file: DatabaseFile | undefined): void {
    if (file === this.#file) return
    this.#letGo()
    this.#file = file
    this.#letGo = file?.hold() ?? (() => undefined)
  }

  /** The revisions that a question asks for, in its order. Refuses with `storage_unavailable` where the disk fails. */
  async *revisions(question: RevisionQuestion): AsyncGenerator<RevisionRow, void, undefined> {
    let { behind } = question
    for (let tries = 1; ; tries++) {
      if (!this.#file) await this.#writer.settled()
      const file = this.#file
      if (!file) throw notReadable('it is not whole yet')
      const letGo = file.hold()
      try {
        for await (const row of findRevisions(file, { ...question, behind })) {
          behind = row
          yield row
        }
        return
      } catch (error) {
        if (!isDamage(error) || tries === MOST_TRIES) throw refusalFor(error)
        await this.#writer.damaged(saidOf(error), file)
      } finally {
        letGo()
      }
    }
  }

  /** The artifacts of a question whose commits cannot be read. */
  unreadable(question: RevisionQuestion): Unreadable {
    return this.#read((file) => unreadableIn(file, question)) ?? { slugs: [], areAll: false }
  }

  /** Newest first, revisions and artifacts whose words are not to be found yet. */
  unsearched(most: number): readonly Unsearched[] {
    return this.#read((file) => unsearchedIn(file, most)) ?? []
  }

  /** Whether it is known that a revision embeds nothing. */
  isWithoutEmbeds({ artifact: { family, slug }, oid }: { artifact: ArtifactView; oid: Oid }): boolean {
    const values = [family.folder, slug, bytesOf(oid)] as const
    return this.#read((file) => file.rows(WITHOUT_EMBEDS, ...values).length > 0) ?? false
  }

  /** Undefined where there is no file, or it turns out to be damaged: then it is made anew. */
  #read<T>(read: (file: DatabaseFile) => T): T | undefined {
    const file = this.#file
    try {
      return file && read(file)
    } catch (error) {
      if (!isDamage(error)) throw refusalFor(error)
      // Who asks next waits for that.
      if (file) void this.#writer.damaged(saidOf(error), file).catch(() => undefined)
      return undefined
    }
  }
}

function refusalFor(error: unknown): unknown {
  if (!isDamage(error) && !isStorageTrouble(error)) return error
  return notReadable(saidOf(error))
}

function notReadable(reason: string): Refusal {
  return new Refusal('storage_unavailable', `The index cannot be read now: ${reason}. Ask again in a moment.`)
}

/** What was said of a file, for the log and for clients. */
export function saidOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const WITHOUT_EMBEDS = `
  SELECT 1 FROM artifacts a JOIN revisions r ON r.artifact = a.number
  WHERE a.family = ? AND a.slug = ? AND r.oid = ? AND r.embeds = 0`
