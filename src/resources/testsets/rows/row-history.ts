import { firstParent, parseCommit } from '../../../git/objects/object.ts'
import type { Oid } from '../../../git/objects/object.ts'
import { TimeSlice } from '../../../scheduling/cooperative.ts'
import type { ObjectReader } from '../../../versioning/family/tree-files.ts'
import { readBytes, readTree } from '../../../versioning/family/tree-files.ts'
import { OidTable } from '../dedup/oid-table.ts'
import { OID_BYTES, scanRowFolder } from './row-folder.ts'
import { DEEPEST_POSITION } from './row-position.ts'

/** The folder of a commit's tree that holds the rows. */
const ROWS_FOLDER = 'testcases'

/**
 * Which blobs are or were rows of one repository: those at a row's path in a commit on a first-parent chain of a head or tag.
 * Every commit and tree is read once, and only when a question needs it; 11 bytes a row are kept. A new revision costs its
 * own trees. When a head or tag is moved back or goes, what it alone reached is forgotten.
 */
export class RowHistory {
  readonly #source: ObjectReader
  #tips: readonly Oid[] = []
  /** Every commit on the chains, with none of them twice. */
  readonly #commits = new Set<Oid>()
  /** Those whose rows were not looked at yet, the newest last. */
  #unread: Oid[] = []
  /** Those that could not be read, so that their parents are not known. */
  #broken: Oid[] = []
  /** Trees whose rows are all in the table, with how deep they hang. */
  readonly #trees = new Set<string>()
  #rows = new OidTable()
  #turn: Promise<unknown> = Promise.resolve()

  constructor(source: ObjectReader) {
    this.#source = source
  }

  /**
   * True if the blob is or was a row. `tips` are the commits that heads and tags name now; history is looked through from
   * the last one on. Where a part of it cannot be read, `damaged_repository` comes only if the blob is in no other.
   */
  holds(oid: Oid, tips: readonly Oid[]): Promise<boolean> {
    const answer = this.#turn.then(() => this.#look(oid, tips))
    this.#turn = answer.catch(() => undefined)
    return answer
  }

  async #look(oid: Oid, tips: readonly Oid[]): Promise<boolean> {
    const slice = new TimeSlice()
    const problems = await this.#follow(tips, slice)
    const unreadable: Oid[] = []
    while (!this.#rows.has(oid)) {
      const commit = this.#unread.pop()
      if (commit === undefined) break
      const before = problems.length
      await this.#readCommit(commit, problems, slice)
      if (problems.length > before) unreadable.push(commit)
    }
    this.#unread = [...unreadable, ...this.#unread]
    if (this.#rows.has(oid)) return true
    if (problems.length > 0) throw problems[0]
    return false
  }

  /** Brings the list of commits up to date; answers what could not be read. */
  async #follow(tips: readonly Oid[], slice: TimeSlice): Promise<unknown[]> {
    const isKnown = tips.length === this.#tips.length && tips.every((tip, index) => tip === this.#tips[index])
    if (isKnown && this.#broken.length === 0) return []
    const walk = await this.#walk([...this.#broken, ...tips], slice)
    const stillReached = new Set([...tips, ...walk.met, ...walk.fresh])
    const isForgotten = !this.#tips.every((tip) => stillReached.has(tip))
    this.#tips = tips
    if (!isForgotten) return this.#take(walk)
    this.#commits.clear()
    this.#trees.clear()
    this.#unread = []
    this.#rows = new OidTable()
    return this.#take(await this.#walk(tips, slice))
  }

  #take({ fresh, broken, problems }: Walk): unknown[] {
    for (const oid of fresh) this.#commits.add(oid)
    for (const oid of [...fresh].reverse()) this.#unread.push(oid)
    this.#broken = broken
    return problems
  }

  /** Follows first parents down to what is known. */
  async #walk(starts: readonly Oid[], slice: TimeSlice): Promise<Walk> {
    const fresh = new Set<Oid>()
    const walk: Walk = { fresh, met: [], broken: [], problems: [] }
    for (const start of starts.toReversed()) {
      let next: Oid | undefined = start
      while (next !== undefined && !fresh.has(next) && !this.#commits.has(next)) {
        next = await this.#step(next, walk)
        if (slice.isOver) await slice.rest()
      }
      if (next !== undefined) walk.met.push(next)
    }
    return walk
  }

  /** The first parent, undefined at the end of what can be read. */
  async #step(commit: Oid, walk: Walk): Promise<Oid | undefined> {
    try {
      const parent = firstParent(await readBytes(this.#source, commit, 'commit'))
      walk.fresh.add(commit)
      return parent
    } catch (error) {
      walk.problems.push(error)
      walk.broken.push(commit)
      return undefined
    }
  }

  async #readCommit(oid: Oid, problems: unknown[], slice: TimeSlice): Promise<void> {
    try {
      const { tree } = parseCommit(await readBytes(this.#source, oid, 'commit'))
      const entries = await readTree(this.#source, tree)
      const rows = entries.find(({ name, mode }) => name === ROWS_FOLDER && mode === '40000')
      if (rows) await this.#readFolder(rows.oid, 0, problems, slice)
    } catch (error) {
      problems.push(error)
    }
  }

  /** Takes the rows of a tree that was not seen at this depth; it counts as seen when all of it could be read. */
  async #readFolder(tree: Oid, depth: number, problems: unknown[], slice: TimeSlice): Promise<void> {
    const key = `${tree} ${depth}`
    if (this.#trees.has(key)) return
    if (slice.isOver) await slice.rest()
    const before = problems.length
    const deeper: Oid[] = []
    try {
      const bytes = await readBytes(this.#source, tree, 'tree')
      scanRowFolder(bytes, (kind, _byte, _entryAt, oidAt) => {
        if (kind === 'row') this.#rows.add(bytes, oidAt)
        if (kind === 'folder' && depth + 1 < DEEPEST_POSITION) {
          deeper.push(bytes.toString('hex', oidAt, oidAt + OID_BYTES))
        }
      })
    } catch (error) {
      problems.push(error)
    }
    for (const folder of deeper) await this.#readFolder(folder, depth + 1, problems, slice)
    if (problems.length === before) this.#trees.add(key)
  }
}

interface Walk {
  /** Commits that were not known, newest first on each chain. */
  readonly fresh: Set<Oid>
  /** Commits at which a chain met one that was known. */
  readonly met: Oid[]
  readonly broken: Oid[]
  readonly problems: unknown[]
}
