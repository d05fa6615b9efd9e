import { ZodError } from 'zod'
import { recentlyUsed } from '../../cache/recently-used.ts'
import { Refusal, type RefusalCode } from '../../errors.ts'
import { type Commit, parseCommit, type Oid, type TreeEntry } from '../../git/objects/object.ts'
import { JsonTextError } from '../../json/json-text-error.ts'
import { boundedText } from '../../json/json-values.ts'
import { MOST_LEVELS, parseJson } from '../../json/parse-json.ts'
import { counts } from '../../metrics/counters.ts'
import { type RevisionHeader, revisionHeader } from '../artifacts/artifact-record.ts'
import type { DocumentLimits } from '../family/document-limits.ts'
import type { Family, Payload, ReadContext } from '../family/family.ts'
import type { ObjectReader } from '../family/tree-files.ts'
import { asLarge } from '../family/large-document.ts'
import { readBytes, readTree } from '../family/tree-files.ts'
import { type CommitMessage, decodeMessage } from './write-commit.ts'

/** The file of a commit's tree for what came beside the payload. */
export const REVISION_FILE = 'revision.json'

/** A commit decoded as a revision: what follows from the commit alone, and so never changes. */
export interface StoredRevision extends CommitMessage {
  readonly oid: Oid
  readonly commit: Commit
  readonly header: RevisionHeader
  /** The payload as stored; undefined for a revision without one. */
  readonly payload: Payload | undefined
  /** Bytes of memory that it takes, roughly. */
  readonly size: number
  /**
   * Why header and payload could not be decoded, when git brought files that are none of ours, or a later server's, or what unfolds to more
   * than a document may; they are absent then.
   */
  readonly damage?: Refusal
}

/**
 * Decoded revisions, 32 MB of them for all projects together, and none that was not asked for lately. A commit
 * never changes, so neither do these.
 */
const revisions = recentlyUsed<string, StoredRevision>(
  32 * 1024 * 1024,
  // Decoded, a payload takes some three times its text, and what a commit says two kilobytes.
  ({ size }) => 3 * size + 2000,
)
let caches = 0

/** The decoded revisions of one family in one project: what another one has is none of its. */
export class RevisionCache {
  readonly #family: Family
  readonly #limits: DocumentLimits
  readonly #gitBase: string
  readonly #serial = ++caches

  /** `gitBase` is the address under which repositories are cloned. */
  constructor(family: Family, limits: DocumentLimits, gitBase: string) {
    this.#family = family
    this.#limits = limits
    this.#gitBase = gitBase
  }

  /** The revision. Refuses with `damaged_repository` or `unsupported_format` what does not decode, naming the file. */
  async read(source: ObjectReader, oid: Oid): Promise<StoredRevision> {
    const revision = await this.readForList(source, oid)
    if (revision.damage) throw revision.damage
    return revision
  }

  /** The revision as far as it decodes: one bad commit must not hide the others of a list. */
  async readForList(source: ObjectReader, oid: Oid, signal?: AbortSignal): Promise<StoredRevision> {
    const key = this.#keyOf(oid)
    const known = revisions.get(key)
    if (known) {
      counts.lookups.revisions.hits++
      return known
    }
    counts.lookups.revisions.misses++
    const revision = await this.#readAnew(source, oid, { signal })
    // What does not decode may be a disk that fails for a while.
    if (!revision.damage) revisions.set(key, revision)
    return revision
  }

  /** The same for a list that shows no payload: what of it lies in files of its own is not read, and left out. */
  async readOutline(source: ObjectReader, oid: Oid, signal?: AbortSignal): Promise<StoredRevision> {
    const key = this.#keyOf(oid)
    const known = revisions.get(key)
    if (known) return known
    const revision = await this.#readAnew(source, oid, { part: 'outline', signal })
    // A large document is never held, so its outline is all of it: without this, each list would open it in a thread again.
    if (asLarge(revision.payload)) revisions.set(key, revision)
    return revision
  }

  /** What the commit alone says: who, when and why; without header and payload, which may be large. */
  async readCommit(source: ObjectReader, oid: Oid): Promise<StoredRevision> {
    const known = revisions.get(this.#keyOf(oid))
    if (known) return known
    const commit = parseCommit(await readBytes(source, oid, 'commit'))
    return { oid, commit, ...decodeMessage(commit.message), header: {}, payload: undefined, size: 0 }
  }

  /** Takes a revision as it was built, in place of reading it back. */
  keep(revision: StoredRevision): void {
    revisions.set(this.#keyOf(revision.oid), revision)
  }

  #readAnew(
    source: ObjectReader,
    oid: Oid,
    asked: Pick<ReadContext, 'part' | 'signal'>,
  ): Promise<StoredRevision> {
    const folder = source.gitdir?.split('/').at(-1)
    const address = folder === undefined ? undefined : `${this.#gitBase}/${this.#family.folder}/${folder}`
    return readRevision(this.#family, source, oid, { ...asked, limits: this.#limits, address })
  }

  #keyOf(oid: Oid): string {
    return `${this.#serial} ${oid}`
  }
}

async function readRevision(
  family: Family,
  source: ObjectReader,
  oid: Oid,
  context: ReadContext,
): Promise<StoredRevision> {
  const commit = parseCommit(await readBytes(source, oid, 'commit'))
  const said = decodeMessage(commit.message)
  let size = 0
  try {
    const entries = await readTree(source, commit.tree)
    const headerFile = entries.find((entry) => entry.name === REVISION_FILE && isFile(entry))
    const headerBytes = headerFile && (await readBytes(source, headerFile.oid, 'blob'))
    size = headerBytes?.length ?? 0
    const header = headerBytes ? await decodeHeader(headerBytes) : {}
    const read = await family.read(source, entries, context)
    const { payload, size: payloadSize = 0 } = read ?? {}
    return { oid, commit, ...said, header, payload, size: size + payloadSize }
  } catch (error) {
    // Nothing is wrong with the revision.
    if (context.signal?.aborted) throw error
    if (error instanceof Refusal && OF_THE_SERVER.has(error.code)) throw error
    if (error instanceof Refusal && error.code === 'document_too_large')
      return { oid, commit, ...said, header: {}, payload: undefined, size, damage: error }
    // it may quote what is as long as a file
    const why = boundedText(error instanceof Error ? error.message : String(error), LONGEST_WHY)
    const sentence = `Commit ${oid} does not decode as a ${family.name} revision: ${why}`
    const isLater = error instanceof Refusal && error.code === 'unsupported_format'
    const damage = new Refusal(isLater ? error.code : 'damaged_repository', sentence)
    return { oid, commit, ...said, header: {}, payload: undefined, size, damage }
  }
}

/** What the server cannot do now. */
const OF_THE_SERVER: ReadonlySet<RefusalCode> = new Set(['storage_unavailable', 'overloaded'])

const LONGEST_WHY = 8000

const MAX_PROBLEMS_NAMED = 20

function isFile(entry: TreeEntry): boolean {
  return entry.mode === '100644' || entry.mode === '100755'
}

function decodeHeader(bytes: Buffer): RevisionHeader {
  try {
    const value = parseJson(bytes.toString('utf8'), { maxDepth: MOST_LEVELS })
    return revisionHeader.parse(value)
  } catch (error) {
    if (error instanceof ZodError) {
      const problems = error.issues
        .slice(0, MAX_PROBLEMS_NAMED)
        .map(({ path, message }) => [...path, message].join(': '))
      throw new Error(`${REVISION_FILE}: ${problems.join('; ')}`, { cause: error })
    }
    throw error instanceof JsonTextError
      ? new Error(`${REVISION_FILE}: ${error.message}`, { cause: error })
      : error
  }
}
