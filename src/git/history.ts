import { crc32 } from 'node:zlib'
import { Refusal } from '../errors.ts'
import { firstParent } from './first-parent.ts'
import type { Fs } from './fs.ts'
import type { Oid } from './object.ts'
import type { ObjectStore } from './object-store.ts'

/** A commit's place in first-parent history. All of it follows from the commit alone, so it is true for ever. */
export interface HistoryNode {
  readonly oid: Oid
  readonly parent: HistoryNode | undefined
  /** `git rev-list --first-parent --count <oid>`: 1 for a root. */
  readonly depth: number
  /** The root of this first-parent chain, so that unrelated chains are told apart at once. */
  readonly root: Oid
}

/** A history shorter than this is walked faster than a file is opened; nothing is kept beside the repository. */
const WORTH_KEEPING = 64

/** Bytes of a kept record: commit id, first parent's id (zeros for a root), depth, CRC-32 of what precedes. */
const RECORD = 48

/**
 * First-parent depths of one repository. What was walked once is kept in memory and, for long histories, in the file
 * `first-parents` beside the objects: append-only records of facts that cannot change. The file is derived: damaged records
 * are ignored, a missing file is walked again.
 */
export class History {
  readonly #fs: Fs
  readonly #path: string
  readonly #objects: ObjectStore
  readonly #nodes = new Map<Oid, HistoryNode>()
  #kept = 0
  #loaded = false

  constructor(fs: Fs, gitdir: string, objects: ObjectStore) {
    this.#fs = fs
    this.#path = `${gitdir}/first-parents`
    this.#objects = objects
  }

  /** How many commits are known in memory. */
  get size(): number {
    return this.#nodes.size
  }

  /** The commit's place; walks from it back to what is known. Refuses a commit that is missing or no commit. */
  async node(oid: Oid): Promise<HistoryNode> {
    const known = this.#nodes.get(oid)
    if (known) return known
    this.#load()
    const unknown: Oid[] = []
    let next: Oid | undefined = oid
    while (next !== undefined && !this.#nodes.has(next)) {
      unknown.push(next)
      next = await this.#firstParent(next)
    }
    let parent = next === undefined ? undefined : this.#nodes.get(next)
    const learned: HistoryNode[] = []
    for (const id of unknown.reverse()) {
      parent = this.#learn(id, parent)
      learned.push(parent)
    }
    this.#keep(learned)
    const node = this.#nodes.get(oid)
    if (!node) throw new Error(`history of ${oid} was walked but not learned`)
    return node
  }

  #learn(oid: Oid, parent: HistoryNode | undefined): HistoryNode {
    const node = { oid, parent, depth: (parent?.depth ?? 0) + 1, root: parent?.root ?? oid }
    this.#nodes.set(oid, node)
    return node
  }

  async #firstParent(oid: Oid): Promise<Oid | undefined> {
    const object = await this.#objects.read(oid)
    if (object?.kind !== 'commit') {
      throw new Refusal('damaged_repository', `${this.#path}: commit ${oid} is missing from the repository.`)
    }
    return firstParent(object.bytes)
  }

  #load(): void {
    if (this.#loaded) return
    this.#loaded = true
    const bytes = this.#fs.readFile(this.#path)
    if (!bytes) return
    for (let at = 0; at < bytes.length; at += RECORD) {
      if (!this.#decode(bytes, at)) {
        // Torn by a crash or damaged: what was read so far is true, the rest is walked and kept anew.
        this.#fs.remove(this.#path)
        return
      }
    }
    this.#kept = this.#nodes.size
  }

  /** False if the record is not whole, or stands before its parent's. */
  #decode(bytes: Buffer, at: number): boolean {
    if (at + RECORD > bytes.length) return false
    if (crc32(bytes.subarray(at, at + RECORD - 4)) !== bytes.readUInt32BE(at + RECORD - 4)) return false
    const oid = bytes.toString('hex', at, at + 20)
    const parent = this.#nodes.get(bytes.toString('hex', at + 20, at + 40))
    if ((parent?.depth ?? 0) + 1 !== bytes.readUInt32BE(at + 40)) return false
    if (!this.#nodes.has(oid)) this.#learn(oid, parent)
    return true
  }

  #keep(learned: readonly HistoryNode[]): void {
    if (this.#nodes.size < WORTH_KEEPING) return
    // The first time, everything; from then on what is new.
    const unkept = this.#kept === 0 ? [...this.#nodes.values()] : learned
    try {
      this.#fs.append(this.#path, Buffer.concat(unkept.map(encodeRecord)))
      this.#kept = this.#nodes.size
    } catch {
      // Derived data: a full disk or a read-only folder costs speed at the next start, nothing else.
    }
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

/** The commit `depth` deep on the first-parent chain that ends in `head`; undefined if the chain is not that long. */
export function ancestorAt(head: HistoryNode, depth: number): HistoryNode | undefined {
  if (depth < 1 || depth > head.depth) return undefined
  let node: HistoryNode | undefined = head
  while (node && node.depth > depth) node = node.parent
  return node
}

/** True if `node` is on the first-parent chain that ends in `head`. */
export function isOnChain(node: HistoryNode, head: HistoryNode): boolean {
  return node.root === head.root && ancestorAt(head, node.depth) === node
}
