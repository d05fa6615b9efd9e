import { createHash } from 'node:crypto'
import { ZodError } from 'zod'
import { recentlyUsed } from '../../base/recently-used.ts'
import { Refusal, type RefusalCode } from '../../errors.ts'
import {
  type Commit,
  encodeCommit,
  type Ident,
  type Oid,
  parseCommit,
  type TreeEntry,
} from '../../git/objects.ts'
import { signCommit, type SigningKey } from '../../git/signing.ts'
import { JsonTextError, boundedText, MOST_LEVELS, parseJson, stringifyJson } from '../../base/json.ts'
import { counts } from '../../base/counters.ts'
import { type Header, type RevisionHeader, revisionHeader } from '../artifacts/artifact-record.ts'
import type { DocumentLimits } from '../payload/document-limits.ts'
import type { Family, Payload, ReadContext } from '../payload/family.ts'
import type { ObjectReader, ObjectSink } from '../payload/tree-files.ts'
import { LargeDocument } from '../payload/large-document.ts'
import { readBytes, readTree } from '../payload/tree-files.ts'
import type { WriteContext } from '../store/write-context.ts'

/** The file in a commit's tree for the revision's data besides the payload. */
export const REVISION_FILE = 'revision.json'

/** A commit decoded as a revision: what follows from the commit alone, and so never changes. */
export interface StoredRevision extends CommitMessage {
  readonly oid: Oid
  readonly commit: Commit
  readonly header: RevisionHeader
  /** The payload as stored; undefined for a revision without one. */
  readonly payload: Payload | undefined
  /** Approximate memory use in bytes. */
  readonly size: number
  /**
   * The files that hold texts of the payload, by JSON Pointer; undefined if there are none or they are
   * unknown.
   */
  readonly files?: ReadonlyMap<string, string> | undefined
  /**
   * Why header and payload could not be decoded and are absent: files that git brought in another format, a
   * later server's format, or a document past the limits.
   */
  readonly damage?: Refusal
}

/**
 * Recently used decoded revisions, at most 32 MB for all projects together. A commit never changes, so an
 * entry stays valid.
 */
const revisions = recentlyUsed<string, StoredRevision>(
  32 * 1024 * 1024,
  // A decoded payload takes about three times its text; the rest of a revision takes about 2 kB.
  ({ size }) => 3 * size + 2000,
)
let caches = 0

/** The decoded revisions of one family in one project, kept apart from those of others. */
export class RevisionCache {
  readonly family: Family
  readonly #limits: DocumentLimits
  readonly #gitBase: string
  readonly #serial = ++caches

  /** `gitBase` is the address under which repositories are cloned. */
  constructor(family: Family, limits: DocumentLimits, gitBase: string) {
    this.family = family
    this.#limits = limits
    this.#gitBase = gitBase
  }

  /**
   * Reads a revision. Throws `damaged_repository` or `unsupported_format`, naming the file, if it does not
   * decode.
   */
  async read(source: ObjectReader, oid: Oid): Promise<StoredRevision> {
    const revision = await this.readForList(source, oid)
    if (revision.damage) throw revision.damage
    return revision
  }

  /** Reads as much of a revision as decodes, so that one bad commit does not hide the others of a list. */
  async readForList(source: ObjectReader, oid: Oid, signal?: AbortSignal): Promise<StoredRevision> {
    const known = this.known(oid)
    if (!known) return this.#readAndKeep(source, oid, signal)
    counts.lookups.revisions.hits++
    return known
  }

  async #readAndKeep(
    source: ObjectReader,
    oid: Oid,
    signal: AbortSignal | undefined,
  ): Promise<StoredRevision> {
    counts.lookups.revisions.misses++
    const revision = await this.#readAnew(source, oid, { signal })
    // A temporary disk failure may be the reason that a revision could not be decoded, so such a revision is read again.
    if (!revision.damage) this.keep(revision)
    return revision
  }

  /** The same for a list without payloads: skips the parts of the payload that are in separate files. */
  async readOutline(source: ObjectReader, oid: Oid, signal?: AbortSignal): Promise<StoredRevision> {
    const known = this.known(oid)
    if (known) return known
    const revision = await this.#readAnew(source, oid, { part: 'outline', signal })
    // A large document is never held in memory, so its outline is complete; without this, each list would
    // open it in a thread again.
    if (revision.payload instanceof LargeDocument) this.keep(revision)
    return revision
  }

  /** Reads only the commit: who, when and why. Leaves out header and payload, which may be large. */
  async readCommit(source: ObjectReader, oid: Oid): Promise<StoredRevision> {
    return this.known(oid) ?? readMessage(source, oid)
  }

  /** The revision, if it is cached. */
  known(oid: Oid): StoredRevision | undefined {
    return revisions.get(`${this.#serial} ${oid}`)
  }

  /** Caches a revision that was just read or written. */
  keep(revision: StoredRevision): void {
    revisions.set(`${this.#serial} ${revision.oid}`, revision)
  }

  #readAnew(
    source: ObjectReader,
    oid: Oid,
    asked: Pick<ReadContext, 'part' | 'signal'>,
  ): Promise<StoredRevision> {
    const folder = source.gitdir?.split('/').at(-1)
    const address = folder === undefined ? undefined : `${this.#gitBase}/${this.family.folder}/${folder}`
    return readRevision(this.family, source, oid, { ...asked, limits: this.#limits, address })
  }
}

async function readMessage(source: ObjectReader, oid: Oid): Promise<StoredRevision> {
  const commit = parseCommit(await readBytes(source, oid, 'commit'))
  return { oid, commit, ...decodeMessage(commit.message), header: {}, payload: undefined, size: 0 }
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
    const { payload, size: payloadSize = 0, files } = read ?? {}
    return { oid, commit, ...said, header, payload, size: size + payloadSize, files }
  } catch (error) {
    // An aborted read says nothing about the revision.
    if (context.signal?.aborted) throw error
    if (error instanceof Refusal && OF_THE_SERVER.has(error.code)) throw error
    if (error instanceof Refusal && error.code === 'document_too_large')
      return { oid, commit, ...said, header: {}, payload: undefined, size, damage: error }
    // the message may quote a whole file
    const why = boundedText(error instanceof Error ? error.message : String(error), LONGEST_WHY)
    const sentence = `Commit ${oid} does not decode as a ${family.name} revision: ${why}`
    const isLater = error instanceof Refusal && error.code === 'unsupported_format'
    const damage = new Refusal(isLater ? error.code : 'damaged_repository', sentence)
    return { oid, commit, ...said, header: {}, payload: undefined, size, damage }
  }
}

/** Errors of the server, not of the revision. */
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

/** The length as JSON. Indexes and lists hold the headers of all artifacts, so larger data belongs in the payload. */
const MAX_HEADER_LENGTH = 256 * 1024

/** The fields in the order in which they are stored and answered. */
const HEADER_FIELDS = ['name', 'description', 'flags', 'tags', 'meta'] as const

/** The fields of a header in stored order. Throws `limit_exceeded` if it is too long. */
export function boundedHeader(header: Header): Header {
  const brought: Record<string, unknown> = {}
  for (const field of HEADER_FIELDS) if (header[field] !== undefined) brought[field] = header[field]
  if (Object.keys(brought).length > 0) assertHeaderLength(brought)
  return brought
}

/** Throws `limit_exceeded` if a header, or an edit of one, is too long. */
export function assertHeaderLength(header: object): void {
  if (stringifyJson(header).length <= MAX_HEADER_LENGTH) return
  throw new Refusal(
    'limit_exceeded',
    `Name, description, flags, tags and meta have more than ${MAX_HEADER_LENGTH} characters as JSON. Put what is large into data.`,
    { details: { limit: MAX_HEADER_LENGTH } },
  )
}

/** A commit's trailers: hints about its origin (interface 15.4), never a reason to refuse it. */
export interface Trailers {
  /** The variant it was committed to. */
  readonly variant?: string
  /** The revision slug its committer chose. */
  readonly slug?: string
  /** The environments it was deployed to in the same write. */
  readonly deploy?: string
  /** A deployment: the key, its previous value and its new value. */
  readonly deployKey?: string
  readonly deployFrom?: string
  readonly deployTo?: string
  /** The id of the key that deployed, in an environment's commits. */
  readonly deployBy?: string
  readonly idempotencyKey?: string
  /** The hash of a generated subject; see `decodeMessage`. */
  readonly generatedSubject?: string
}

export interface CommitMessage {
  /** The client's message; undefined if there is none. */
  readonly message: string | undefined
  /** What `git log --format=%s` shows: from the message, or generated if there is none. */
  readonly subject: string
  readonly trailers: Trailers
}

/** What a registry contributes to its commits: the clock, and the service's signing key, if any. */
interface Clerk {
  readonly now: () => Date
  readonly signing: { readonly key: SigningKey | undefined }
}

/** The content of a new commit, apart from who makes it and when. */
interface NewCommit extends Pick<Commit, 'tree' | 'parents'> {
  readonly author?: Ident | undefined
  readonly message: string | undefined
  /** A generated line to use if there is no message; its trailer marks it as generated. */
  readonly subject?: string | undefined
  readonly trailers?: Trailers
}

/** A written commit, with what decoding it would give. */
export interface WrittenCommit extends CommitMessage {
  readonly oid: Oid
  readonly commit: Commit
}

/**
 * Writes a commit by the actor, in UTC, with the idempotency key among its trailers. Every commit of a
 * registry is made and signed here; the service's key, if any, signs for every author. `author` is the author
 * of the content, if that is not the actor.
 */
export function writeCommit(
  { signing, now }: Clerk,
  sink: ObjectSink,
  { tree, parents, author, message, subject, trailers }: NewCommit,
  { actor, idempotencyKey }: WriteContext,
): WrittenCommit {
  const seconds = Math.floor(now().getTime() / 1000)
  const committer = { name: actor.name, email: actor.email, seconds, timezone: '+0000' }
  const isMade = message === undefined && subject !== undefined
  const all = {
    ...trailers,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(isMade && { generatedSubject: hashOfSubject(subject) }),
  }
  const text = encodeMessage(isMade ? subject : message, all)
  const unsigned: Commit = { tree, parents, author: author ?? committer, committer, message: text }
  const commit = signing.key ? signCommit(unsigned, signing.key) : unsigned
  const oid = sink.write('commit', encodeCommit(commit))
  return { oid, commit, message, subject: subjectIn(text), trailers: all }
}

const KEYS = {
  variant: 'Variant',
  slug: 'Slug',
  deploy: 'Deploy',
  deployKey: 'Deploy-Key',
  deployFrom: 'Deploy-From',
  deployTo: 'Deploy-To',
  deployBy: 'Deploy-By',
  idempotencyKey: 'Idempotency-Key',
  generatedSubject: 'Generated-Subject',
} as const
const OURS =
  /^(?:(?:Variant|Slug|Deploy|Deploy-Key|Deploy-From|Deploy-To|Deploy-By|Idempotency-Key): |Generated-Subject: [0-9a-f]{8}\n?$)/
const TRAILER = /^[A-Za-z0-9-]+: /

/**
 * The text of a commit: the client's exact message, then our trailers as its last lines. They join a block of
 * trailers at the end of the message (`Signed-off-by: …`), unless the message's last line could be taken for
 * ours.
 */
function encodeMessage(message: string | undefined, trailers: Trailers): string {
  let lines = ''
  for (const [key, word] of Object.entries(KEYS)) {
    const value = trailers[key as keyof Trailers]
    if (value !== undefined) lines += `${word}: ${value}\n`
  }
  if (message === undefined) return lines
  if (lines === '') return `${message}\n`
  const isJoined = message.includes('\n\n') && endsInForeignTrailers(message)
  return isJoined ? `${message}\n${lines}` : `${message}\n\n${lines}`
}

/**
 * The inverse. Also reads messages that plain git wrote, whose final newline is git's. A generated subject
 * counts as no message while its trailer matches; after an amend it counts as one.
 */
export function decodeMessage(text: string): CommitMessage {
  const { message, trailers } = takeApart(text)
  const subject = subjectIn(text)
  const isMade =
    message !== undefined &&
    trailers.generatedSubject !== undefined &&
    trailers.generatedSubject === hashOfSubject(message)
  return { message: isMade ? undefined : message, subject, trailers }
}

/** The lines up to the first blank one, joined: what git shows of a message in one line. */
export function subjectIn(text: string): string {
  const lines: string[] = []
  for (let start = 0; start < text.length;) {
    const feed = text.indexOf('\n', start)
    const end = feed < 0 ? text.length : feed
    let last = end
    while (last > start && BLANK.has(text.charAt(last - 1))) last--
    if (last > start) lines.push(text.slice(start, last))
    else if (lines.length > 0) break
    start = end + 1
  }
  return lines.join(' ')
}

/** The characters that git treats as blank. */
const BLANK = new Set([' ', '\t', '\r', '\n'])

function hashOfSubject(subject: string): string {
  return createHash('sha256').update(subject).digest('hex').slice(0, 8)
}

function takeApart(text: string): Omit<CommitMessage, 'subject'> {
  const start = startOfOwnLines(text)
  const trailers: Record<string, string> = {}
  for (const line of text.slice(start).split('\n')) {
    const key = Object.entries(KEYS).find(([, word]) => line.startsWith(`${word}: `))
    if (key) trailers[key[0]] = line.slice(key[1].length + 2)
  }
  if (start === 0) return { message: undefined, trailers }
  if (start === text.length) {
    const message = text.endsWith('\n') ? text.slice(0, -1) : text
    return { message: message === '' ? undefined : message, trailers }
  }
  const blank = text.slice(start - 2, start) === '\n\n' ? 2 : 1
  return { message: text.slice(0, start - blank), trailers }
}

/**
 * Whether the message ends with a paragraph of trailers (git-interpret-trailers(1)) that ours may safely
 * join.
 */
function endsInForeignTrailers(message: string): boolean {
  const lines = message.slice(message.lastIndexOf('\n\n') + 2).split('\n')
  return lines.every((line) => TRAILER.test(line)) && !OURS.test(lines.at(-1) ?? '')
}

/** The start of our own lines at the end of the text; the text's length if there are none. */
function startOfOwnLines(text: string): number {
  let start = text.length
  while (start > 0 && text[start - 1] === '\n') {
    const line = text.lastIndexOf('\n', start - 2) + 1
    if (!OURS.test(text.slice(line, start))) break
    start = line
  }
  return start
}
