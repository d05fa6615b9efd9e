import { firstParent, parseCommit, type Oid } from '../../../git/objects.ts'
import { TimeSlice } from '../../../base/scheduling.ts'
import type { ObjectReader } from '../../payload/tree-files.ts'
import { readBytes, readTree } from '../../payload/tree-files.ts'
import { OidTable } from '../dedup/oid-table.ts'
import { OID_BYTES, scanRowFolder } from './row-folder.ts'
import { DEEPEST_POSITION } from './row-position.ts'

const ROWS_FOLDER = 'testcases'

/**
 * Tells which blobs are or were rows of one repository: blobs at a row's path in a commit on the first-parent
 * chain of a head or tag. Reads each commit and tree once, on demand; keeps 11 bytes per row. A new revision
 * costs only its own trees. If a head or tag moves back or is deleted, the rows reachable only from it are
 * forgotten.
 */
export class RowHistory {
  readonly #source: ObjectReader
  #tips: readonly Oid[] = []
  /** All commits on the chains. */
  readonly #commits = new Set<Oid>()
  /** Commits whose rows were not read yet, newest last. */
  #unread: Oid[] = []
  /** Commits that could not be read, so their parents are unknown. */
  #broken: Oid[] = []
  /** Trees whose rows are all in the table, with their depth. */
  readonly #trees = new Set<string>()
  #rows = new OidTable()
  #turn: Promise<unknown> = Promise.resolve()

  constructor(source: ObjectReader) {
    this.#source = source
  }

  /**
   * Whether the blob is or was a row. `tips` are the current commits of heads and tags; history is searched
   * from the last one. If a part cannot be read, throws `damaged_repository` only if the blob is in no other
   * part.
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

  /** Updates the list of commits; returns the errors of those that could not be read. */
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

  /** Follows first parents down to known commits. */
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

  /** The first parent; undefined at the root or if the commit cannot be read. */
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

  /** Adds the rows of a tree not yet seen at this depth. A tree counts as seen once all of it was read. */
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
  /** New commits, newest first on each chain. */
  readonly fresh: Set<Oid>
  /** Known commits at which a chain ended. */
  readonly met: Oid[]
  readonly broken: Oid[]
  readonly problems: unknown[]
}
