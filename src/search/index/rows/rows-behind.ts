import type { Oid } from '../../../git/objects/object.ts'
import { type DatabaseFile, hexOf, utf8Of } from '../../../storage/sqlite/database-file.ts'
import { HAS_SEARCHED_ROWS } from '../../../versioning/index/database/index-file.ts'

/** How far the rows of a variant are in the index: up to `position` as of `head`, behind that as of the tree of rows `tree`. */
export interface RowsState {
  readonly head: Oid
  readonly tree: Oid | undefined
  /** Hexadecimal, and empty at the beginning; undefined once all are as of `head`, whose tree `tree` then is. */
  readonly position: string | undefined
}

/** A variant of a testset whose rows in the index are not yet those of its latest revision. */
export interface RowsBehind {
  /** Its number in the index. */
  readonly variant: number
  /** `<family>/<slug>` of the testset. */
  readonly path: string
  /** The state that its rows are in; undefined where the index has none. */
  readonly state: RowsState | undefined
  /** The commit that its rows are brought to: what was begun is done first. */
  readonly head: Oid
}

/** One of them; what was not begun comes first, and of that the newest: a long one keeps nobody waiting. */
export function rowsBehind(file: DatabaseFile): RowsBehind | undefined {
  const [row] = file.rows<BehindRow>(BEHIND)
  if (!row) return undefined
  const { variant, path } = row
  const state = stateOf(row)
  const head = state?.position === undefined ? hexOf(row.wanted) : state.head
  return { variant, path: utf8Of(path), state, head }
}

/** Whether the rows of a variant are in this state, and not on their way out. */
export function isRowsState(file: DatabaseFile, variant: number, state: RowsState | undefined): boolean {
  const [row] = file.rows<StateRow & { gone: number }>(STATE, variant)
  if (!row || !state) return row === state
  return row.gone === 0 && JSON.stringify(stateOf(row)) === JSON.stringify(state)
}

function stateOf({ head, tree, position }: StateRow): RowsState | undefined {
  if (!head) return undefined
  return {
    head: hexOf(head),
    tree: tree ? hexOf(tree) : undefined,
    position: position ? hexOf(position) : undefined,
  }
}

interface StateRow {
  readonly head: ArrayBuffer | null
  readonly tree: ArrayBuffer | null
  readonly position: ArrayBuffer | null
}

interface BehindRow extends StateRow {
  readonly variant: number
  readonly path: ArrayBuffer
  readonly wanted: ArrayBuffer
}

const STATE = 'SELECT head, tree, position, gone FROM row_heads WHERE variant = ?'
const BEHIND = `
  SELECT v.number AS variant, CAST(a.family || '/' || a.slug AS BLOB) AS path, v.latest AS wanted, h.head, h.tree, h.position
  FROM artifacts a INDEXED BY artifacts_with_rows JOIN variants v ON v.artifact = a.number LEFT JOIN row_heads h ON h.variant = v.number
  WHERE ${HAS_SEARCHED_ROWS} AND v.latest IS NOT NULL
    AND (h.variant IS NULL OR NOT h.gone AND (h.position IS NOT NULL OR h.head <> v.latest))
  ORDER BY h.position IS NOT NULL, v.number DESC LIMIT 1`
