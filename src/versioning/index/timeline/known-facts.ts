import type { Oid } from '../../../git/objects/object.ts'
import { atRest } from '../../../scheduling/cooperative.ts'
import type { CacheFile } from '../../../storage/cache-file.ts'
import type { ObjectReader } from '../../family/tree-files.ts'
import type { CommitFacts } from './commit-facts.ts'
import { readFacts } from './commit-facts.ts'
import { FactsTable, FactsTableWriter } from './facts-table.ts'

/** A file is worth its while once so many commits were read that it does not have. */
const WORTH_IT = 1000

/**
 * The facts of commits: out of a file that a server left here earlier, or else out of the commits, which costs fifty times as much. What
 * is in the file is found by the commit's id, so nothing that happens to a repository can make it untrue.
 */
export class KnownFacts {
  readonly #file: CacheFile
  readonly #worthIt: number
  /** Undefined while it is not loaded, null where there is none, or no need of it any more. */
  #table: FactsTable | undefined | null
  /** How many commits were read since the file was written, or this process began. */
  #read = 0

  constructor(file: CacheFile, worthIt = WORTH_IT) {
    this.#file = file
    this.#worthIt = worthIt
  }

  /** Takes the file into memory, for who is going to ask for all commits: for a few it would cost more than they do. */
  load(): void {
    if (this.#table === undefined) this.#table = this.#tableInFile() ?? null
  }

  /** The facts of a commit in `source`. Refuses with `damaged_repository` if it has to be read and cannot be. */
  of(source: ObjectReader, oid: Oid): CommitFacts | Promise<CommitFacts> {
    const facts = this.#table?.find(oid)
    if (facts) return facts
    this.#read++
    return readFacts(source, oid)
  }

  /** Lets go of the file, until somebody loads it again. */
  release(): void {
    if (this.#table) this.#table = undefined
  }

  /** Lets go of it for good, once all that it is read for is read. */
  forget(): void {
    this.#table = null
  }

  /** Whether a new file would save the next server much. */
  get isWorthWriting(): boolean {
    return this.#read >= this.#worthIt
  }

  /** Puts the facts of `count` commits in the place of what the file has. Rejects once `stop` comes, and leaves the file as it is. */
  async writeAtRest(facts: Iterable<CommitFacts>, count: number, stop: AbortSignal): Promise<void> {
    const writer = new FactsTableWriter(count)
    await atRest(facts, stop, async (one) => writer.add(one))
    this.#replace(writer)
  }

  /** The same without a rest: for a server that ends. */
  write(facts: Iterable<CommitFacts>, count: number): void {
    const writer = new FactsTableWriter(count)
    for (const one of facts) writer.add(one)
    this.#replace(writer)
  }

  #replace(writer: FactsTableWriter): void {
    this.#file.write(writer.finish())
    this.#read = 0
  }

  #tableInFile(): FactsTable | undefined {
    const bytes = this.#file.read()
    return bytes && FactsTable.of(bytes)
  }
}
