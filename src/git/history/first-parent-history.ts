import { crc32 } from 'node:zlib'
import { Refusal } from '../../errors.ts'
import { readOrNothing, type Fs } from '../../storage/files.ts'
import { firstParent } from '../objects/object.ts'
import type { ObjectDatabase } from '../objects/object-database.ts'
import type { Oid } from '../objects/object.ts'
import { gitOn } from '../program/git-process.ts'

/** A commit's place in first-parent history. It depends only on the commit, so it never changes. */
export interface HistoryNode {
  readonly oid: Oid
  /** The node of the first parent; undefined for a root. */
  readonly parent: HistoryNode | undefined
  /** `git rev-list --first-parent --count <oid>`: 1 for a root. */
  readonly depth: number
}

/** With fewer commits, or fewer new ones, walking them is as fast as opening and writing the file. */
const WORTH_KEEPING = 64

/** After this many unknown commits, more are likely, and the git program lists those faster. */
const UNKNOWN_COMMITS_BEFORE_GIT = 500

/** The name of the derived file beside a repository. */
export const FIRST_PARENTS_FILE = 'first-parents'

/** Bytes of a kept record: commit id, first parent's id (zeros for a root), depth, CRC-32 of what precedes. */
const RECORD = 48

/**
 * First-parent depths of one repository. They are kept in memory and, for long histories, in the file `first-parents` beside the objects:
 * append-only records, which never change and are decoded only when requested. The file is derived: if it is damaged or missing, the
 * commits are walked again.
 */
export class History {
  readonly #fs: Fs
  readonly #gitdir: string
  readonly #path: string
  readonly #objects: ObjectDatabase
  readonly #nodes = new Map<Oid, HistoryNode>()
  /** Nodes that are not written to the file yet, parents before children. */
  #unkept: readonly HistoryNode[] = []
  #records: Buffer | undefined
  #isLoaded = false
  #isKept = false

  constructor(fs: Fs, gitdir: string, objects: ObjectDatabase) {
    this.#fs = fs
    this.#gitdir = gitdir
    this.#path = `${gitdir}/${FIRST_PARENTS_FILE}`
    this.#objects = objects
  }

  /** The commit's place; walks from it back to a known commit. Refuses a commit that is missing or not a commit. */
  async node(oid: Oid): Promise<HistoryNode> {
    const unknown: Oid[] = []
    let node: HistoryNode | undefined
    for (let next: Oid | undefined = oid; next !== undefined && !(node = this.#known(next));) {
      unknown.push(next)
      const commit = await this.#objects.read(next)
      if (commit?.kind !== 'commit') throw this.#missing(next)
      next = firstParent(commit.bytes)
      if (unknown.length === UNKNOWN_COMMITS_BEFORE_GIT) next = await this.#listInto(unknown, next)
    }
    return node && unknown.length === 0 ? node : this.#learn(unknown, node)
  }

  #known(oid: Oid): HistoryNode | undefined {
    const known = this.#nodes.get(oid)
    if (known) return known
    if (!this.#isLoaded) this.#load()
    const recorded = this.#records && this.#find(this.#records, oid)
    if (recorded) this.#nodes.set(oid, recorded)
    return recorded
  }

  /** Adds these commits, each the first parent of the one before it; `parent` is the parent of the last. Answers the first one's node. */
  #learn(oids: readonly Oid[], parent: HistoryNode | undefined): HistoryNode {
    let node = parent
    const learned: HistoryNode[] = []
    for (const oid of oids.toReversed()) {
      node = { oid, parent: node, depth: (node?.depth ?? 0) + 1 }
      this.#nodes.set(oid, node)
      learned.push(node)
    }
    if (this.#isKept || this.#nodes.size >= WORTH_KEEPING) this.#keep(learned)
    return node! // There is at least one commit.
  }

  /**
   * Adds the remaining unknown commits of a long history, beginning with `from`, as the git program lists them, if it can see the
   * repository. Answers the commit to continue with. Git walks ten thousand commits in forty milliseconds; this code takes five times as
   * long.
   */
  async #listInto(unknown: Oid[], from: Oid | undefined): Promise<Oid | undefined> {
    if (from === undefined || this.#known(from) || !this.#fs.isSeenByOthers) return from
    const listing = await gitOn(this.#gitdir, ['rev-list', '--first-parent', from]).catch(() => undefined)
    if (listing?.code !== 0) return from
    for (const oid of listing.output.split('\n')) {
      if (oid === '') continue
      if (this.#known(oid)) return oid
      unknown.push(oid)
    }
    return undefined
  }

  #missing(oid: Oid): Refusal {
    return new Refusal('damaged_repository', `${this.#path}: commit ${oid} is missing from the repository.`)
  }

  /** The node of a record. Searches from the end, because most requests are for new commits. */
  #find(records: Buffer, oid: Oid, before?: number): HistoryNode | undefined {
    const wanted = Buffer.from(oid, 'hex')
    // A record's parent is most often the record before it.
    const guess = before === undefined ? records.length - RECORD : before - RECORD
    let at =
      guess >= 0 && wanted.equals(records.subarray(guess, guess + 20)) ? guess : records.lastIndexOf(wanted)
    while (at >= 0 && at % RECORD !== 0) at = at === 0 ? -1 : records.lastIndexOf(wanted, at - 1)
    if (at < 0) return undefined
    if (crc32(records.subarray(at, at + RECORD - 4)) !== records.readUInt32BE(at + RECORD - 4))
      return this.#drop()
    return new RecordedNode(oid, records.readUInt32BE(at + 40), () => this.#parentOf(records, at))
  }

  #parentOf(records: Buffer, at: number): HistoryNode | undefined {
    const oid = records.toString('hex', at + 20, at + 40)
    const node = this.#nodes.get(oid) ?? this.#find(records, oid, at)
    if (!node) {
      // A file with one wrong record is not trusted at all; the next request walks the commits themselves.
      this.#nodes.clear()
      this.#drop()
      throw new Refusal('damaged_repository', `${this.#path} was damaged and has been dropped. Try again.`)
    }
    this.#nodes.set(oid, node)
    return node
  }

  #load(): void {
    this.#isLoaded = true
    const bytes = readOrNothing(this.#fs, this.#path)
    // After a torn end, all later records would be misaligned.
    if (bytes && bytes.length % RECORD !== 0) return this.#drop()
    this.#records = bytes
    this.#isKept = bytes !== undefined
  }

  /** Removes the damaged file; commits are walked again when needed, and written to a new file. */
  #drop(): undefined {
    attempt(() => this.#fs.remove(this.#path))
    this.#records = undefined
    this.#unkept = []
    this.#isKept = false
    return undefined
  }

  #keep(learned: readonly HistoryNode[]): void {
    // The first time, everything.
    const all = [...this.#nodes.values()].sort((a, b) => a.depth - b.depth)
    this.#unkept = this.#isKept ? [...this.#unkept, ...learned] : all
    if (this.#unkept.length < WORTH_KEEPING) return
    try {
      this.#fs.append(this.#path, Buffer.concat(this.#unkept.map(encodeRecord)))
      this.#unkept = []
      this.#isKept = true
    } catch {
      // Derived data: a full disk or a read-only folder costs speed at the next start, nothing else.
    }
  }
}

/** A node from the file; its parent is looked up on request. */
class RecordedNode implements HistoryNode {
  readonly oid: Oid
  readonly depth: number
  readonly #findParent: () => HistoryNode | undefined
  #parent: HistoryNode | undefined

  constructor(oid: Oid, depth: number, findParent: () => HistoryNode | undefined) {
    this.oid = oid
    this.depth = depth
    this.#findParent = findParent
  }

  get parent(): HistoryNode | undefined {
    if (this.depth > 1) this.#parent ??= this.#findParent()
    return this.#parent
  }
}

/** A failure is ignored, because the file is only a cache. */
function attempt(step: () => void): void {
  try {
    step()
  } catch {
    // See above.
  }
}

function encodeRecord(node: HistoryNode): Buffer {
  const record = Buffer.alloc(RECORD)
  record.write(node.oid, 0, 'hex')
  if (node.parent) record.write(node.parent.oid, 20, 'hex')
  record.writeUInt32BE(node.depth, 40)
  record.writeUInt32BE(crc32(record.subarray(0, RECORD - 4)), RECORD - 4)
  return record
}

/** A record of `first-parents`. */
export interface KeptRecord {
  readonly oid: Oid
  readonly parent: Oid | undefined
  readonly depth: number
}

/** The records of `first-parents` in the order they were kept; undefined for bytes that no checksum vouches for. */
export function* decodeHistory(bytes: Buffer): Generator<KeptRecord | undefined> {
  for (let at = 0; at < bytes.length; at += RECORD) {
    const record = bytes.subarray(at, at + RECORD)
    const isWhole =
      record.length === RECORD && crc32(record.subarray(0, RECORD - 4)) === record.readUInt32BE(RECORD - 4)
    const depth = isWhole ? record.readUInt32BE(40) : 0
    const parent = depth > 1 ? record.toString('hex', 20, 40) : undefined
    yield isWhole ? { oid: record.toString('hex', 0, 20), parent, depth } : undefined
  }
}

/** The commit `depth` deep on the first-parent chain that ends in `head`; undefined if the chain is not that long. */
export function ancestorAt(head: HistoryNode, depth: number): HistoryNode | undefined {
  if (depth < 1 || depth > head.depth) return undefined
  let node: HistoryNode | undefined = head
  while (node && node.depth > depth) node = node.parent
  return node
}

/** True if `node` is on the first-parent chain that ends in `head`. */
export function isOnChain(node: HistoryNode, head: HistoryNode): boolean {
  return ancestorAt(head, node.depth)?.oid === node.oid
}
