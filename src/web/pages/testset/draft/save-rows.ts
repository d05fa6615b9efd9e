import { useRef } from 'react'
import { type Answer, Problem } from '../../../api/call.ts'
import type { Members } from '../../../api/json.ts'
import { randomKey } from '../../../api/upload.ts'
import { useWrite } from '../../../api/use-route.ts'
import { KEY_COLUMN, type Row } from '../rows.ts'
import { addedKey, isReordered, type Piece, type RowId, type RowsDraft, valuesOf } from './rows-draft.ts'
import type { Attempt, RowsBase, RowsDraftState } from './use-rows-draft.ts'

/** Reads rows of the base by their offsets. */
export type ReadRows = (offsets: readonly RowId[]) => Promise<ReadonlyMap<RowId, Row>>

/** A row that the draft changes, before and after; `before` is missing for an added row, `after` for a removed one. */
export interface RowChange {
  readonly key: string
  readonly id: string
  readonly before: Members | undefined
  readonly after: Members | undefined
}

/** The rows that a draft changes, in order: changed and added ones, then those removed. */
export async function changesOf(
  draft: RowsDraft,
  base: RowsBase,
  read: ReadRows,
): Promise<readonly RowChange[]> {
  const gone = removedOf(draft, base.total)
  const changed = [...draft.cells.keys()].filter((id) => id >= 0)
  const rows = await read([...changed, ...gone])
  const known = new Set(base.columns)
  const found: RowChange[] = []
  for (const { start, count } of draft.pieces) {
    if (start >= 0) continue
    for (let step = 0; step < count; step++)
      found.push({
        key: addedKey(draft, start - step),
        id: '',
        before: undefined,
        after: valuesOf(draft, start - step, {}, known),
      })
  }
  const edited = changed
    .sort((one, other) => one - other)
    .flatMap((id): RowChange[] => {
      const row = rows.get(id)
      return row
        ? [{ key: row.key, id: row.id, before: row.values, after: valuesOf(draft, id, row.values, known) }]
        : []
    })
  const removed = gone.flatMap((id): RowChange[] => {
    const row = rows.get(id)
    return row ? [{ key: row.key, id: row.id, before: row.values, after: undefined }] : []
  })
  return [...edited, ...found, ...removed]
}

/** The offsets of the base's rows that the draft removes. */
function removedOf({ pieces }: RowsDraft, total: number): readonly RowId[] {
  const gone: RowId[] = []
  let next = 0
  const kept = pieces.filter(({ start }) => start >= 0).toSorted((one, other) => one.start - other.start)
  for (const { start, count } of [...kept, { start: total, count: 0 }]) {
    for (; next < start; next++) gone.push(next)
    next = start + count
  }
  return gone
}

/** The draft as a delta of its base (interface 8.12), as JSON text. */
export async function deltaOf(draft: RowsDraft, base: RowsBase, read: ReadRows): Promise<string> {
  const changes = await changesOf(draft, base, read)
  const rows = {
    replace: changes.flatMap(({ id, before, after }) =>
      before && after ? [{ id, data: withoutKey(after) }] : [],
    ),
    remove: changes.flatMap(({ id, after }) => (after ? [] : [id])),
    add: changes.flatMap(({ key, before, after }) =>
      before || !after ? [] : [{ data: { ...withoutKey(after), __dedup_id__: key } }],
    ),
    move: await movesOf(draft, read),
  }
  return JSON.stringify({ columns: columnsOf(draft, base, changes), rows: filled(rows) })
}

/** The Row ID is no column of data: a changed row keeps it. */
function withoutKey({ [KEY_COLUMN]: _key, ...values }: Members): Members {
  return values
}

function filled(
  lists: Readonly<Record<string, readonly unknown[]>>,
): Readonly<Record<string, readonly unknown[]>> {
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0))
}

function columnsOf(draft: RowsDraft, base: RowsBase, changes: readonly RowChange[]) {
  const keys = new Set(draft.columns.map(({ key }) => key))
  const known = new Set(base.columns)
  const filledNames = new Set(changes.flatMap(({ after }) => Object.keys(after ?? {})))
  return filled({
    // A column with values comes with them; adding it would write an empty text into all other rows.
    add: draft.columns.flatMap(({ key, name }) => (known.has(key) || filledNames.has(name) ? [] : [name])),
    remove: base.columns.filter((name) => !keys.has(name)),
    replace: draft.columns.flatMap(({ key, name }) => (known.has(key) && key !== name ? [[key, name]] : [])),
    order: isReordered(draft, base.columns) ? draft.columns.map(({ name }) => name) : [],
  })
}

/** Which rows do not stand where a delta leaves them: in the order of the base, then those added. Each names the row that it comes after. */
async function movesOf(draft: RowsDraft, read: ReadRows) {
  const lastOfBase = draft.pieces.findLastIndex(({ start, isMoved }) => start >= 0 && !isMoved)
  const isPlaced = ({ start, isMoved }: Piece, at: number): boolean =>
    start < 0 ? at > lastOfBase : !isMoved
  // Rows at the end stay where they were added only if they are in the order in which they were made.
  const placed = draft.pieces.map(isPlaced)
  let newest = 0
  for (const [at, { start, count }] of draft.pieces.entries()) {
    if (start >= 0 || !placed[at]) continue
    if (start > newest) placed[at] = false
    else newest = start - count
  }
  const needed = draft.pieces.flatMap((piece, at) =>
    placed[at] ? [] : [...idsOf(piece), ...lastOf(draft.pieces[at - 1])],
  )
  const rows = await read(needed.filter((id) => id >= 0))
  const keyOf = (id: RowId): string => (id < 0 ? addedKey(draft, id) : (rows.get(id)?.key ?? ''))
  return draft.pieces.flatMap((piece, at) => {
    if (placed[at]) return []
    let [after] = lastOf(draft.pieces[at - 1]).map(keyOf)
    return idsOf(piece).map((id) => {
      const move = { dedup_id: keyOf(id), after: after ?? null }
      after = move.dedup_id
      return move
    })
  })
}

function idsOf({ start, count }: Piece): readonly RowId[] {
  return Array.from({ length: count }, (_, step) => (start >= 0 ? start + step : start - step))
}

function lastOf(piece: Piece | undefined): readonly RowId[] {
  return piece
    ? idsOf({
        start: piece.start >= 0 ? piece.start + piece.count - 1 : piece.start - piece.count + 1,
        count: 1,
      })
    : []
}

export type SavedRows = Answer<'POST /testsets/revisions/commit'>

/** A draft that was saved on a variant of its own, because its target has a newer version. */
export interface AsideRows {
  readonly variantId: string
  readonly variantSlug: string
}

/** Saves a draft. Each way rejects with the server's `Problem`; the draft is kept then. */
export function useSaveRows(base: RowsBase, state: RowsDraftState, read: ReadRows) {
  const commit = useWrite('POST /testsets/revisions/commit')
  const fork = useWrite('POST /testsets/variants/fork')
  const archive = useWrite('POST /testsets/variants/{id}/archive')
  const delta = useRef<{ readonly of: RowsDraft; readonly text: string }>(undefined)

  async function attemptOf(message: string): Promise<Attempt> {
    if (delta.current?.of !== state.draft)
      delta.current = { of: state.draft, text: await deltaOf(state.draft, base, read) }
    const { text } = delta.current
    // The same change with the same message is the same request, also after a reload of the page.
    const { attempt } = state
    const isSame = attempt?.text === text && attempt.message === message
    const next: Attempt = isSame ? attempt : { key: randomKey(), text, message }
    if (!isSame) await putAway(attempt?.aside)
    await state.attempting(next)
    return next
  }

  /** Archives the variant that a draft was merged from, or was to be. */
  async function putAway(variantId: string | undefined): Promise<void> {
    if (variantId !== undefined) await archive.mutateAsync({ path: { id: variantId } }).catch(() => undefined)
  }

  async function send(variantId: string, { key, text, message }: Attempt): Promise<SavedRows> {
    const said = message === '' ? '' : `"message":${JSON.stringify(message)},`
    const from = base.id === undefined ? '' : `"testset_revision_id":"${base.id}",`
    return commit.mutateAsync({
      idempotencyKey: key,
      text: `{"testset_revision_commit":{"testset_variant_id":"${variantId}",${from}${said}"delta":${text}},"include_testcases":false,"include_testcase_ids":false}`,
    })
  }

  return {
    /** Commits the draft as one version if its base is still the newest. */
    save: async (message: string): Promise<SavedRows> => send(base.variantId, await attemptOf(message)),
    /** Commits it on a new variant that begins at the base, to be merged. */
    saveAside: async (message: string): Promise<AsideRows> => {
      const attempt = await attemptOf(message)
      const slug = `${base.variantSlug.slice(0, 150)}-draft-${attempt.key.slice(0, 8)}`
      const { testset_variant: made } = await fork.mutateAsync({
        idempotencyKey: `${attempt.key}-fork`,
        body: {
          testset_variant: { slug },
          testset_variant_id: base.variantId,
          testset_revision_ref: { id: base.id ?? '' },
        },
      })
      await state.attempting({ ...attempt, aside: made.id })
      await send(made.id, { ...attempt, key: `${attempt.key}-aside` })
      return { variantId: made.id, variantSlug: made.slug }
    },
    putAway,
  }
}

/** Whether the base of a draft is no longer the newest version. */
export function hasMoved(error: unknown): boolean {
  return error instanceof Problem && error.status === 409 && error.code === 'revision_conflict'
}
