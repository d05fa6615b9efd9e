import type { Answer } from '../../api/call.ts'

/** A row that one side lacks, or in which cells differ. */
export interface ChangedRow {
  readonly kind: 'added' | 'removed' | 'changed'
  readonly dedupId: string
  /** Its cells before, by column. */
  readonly base?: Readonly<Record<string, unknown>>
  readonly head?: Readonly<Record<string, unknown>>
}

type Rows = Answer<'POST /testsets/revisions/diff'>['diff']['rows']

/** The column of the ids that rows are joined on. */
export const DEDUP_ID = 'testcase_dedup_id'

/** The rows of all pages of a comparison, in the order in which they came. */
export function changedRows(pages: readonly Rows[]): readonly ChangedRow[] {
  return pages.flatMap(({ changed, added, removed }) => [
    ...changed.map(({ dedup_id: dedupId, base, head }): ChangedRow => ({
      kind: 'changed',
      dedupId,
      base: base.data,
      head: head.data,
    })),
    ...added.map(({ data }): ChangedRow => ({ kind: 'added', dedupId: String(data[DEDUP_ID]), head: data })),
    ...removed.map(({ data }): ChangedRow => ({
      kind: 'removed',
      dedupId: String(data[DEDUP_ID]),
      base: data,
    })),
  ])
}

/** The columns that a comparison is about, and those in which no row differs. The ids that rows are joined on stand beside them. */
export function comparedColumns(
  rows: readonly ChangedRow[],
  moved: readonly string[],
): { readonly changed: readonly string[]; readonly same: readonly string[] } {
  const all = new Set<string>()
  const changed = new Set(moved)
  for (const { kind, base, head } of rows) {
    for (const column of [...Object.keys(head ?? {}), ...Object.keys(base ?? {})]) {
      if (column === DEDUP_ID) continue
      all.add(column)
      if (kind !== 'changed' || changed.has(column)) continue
      if (JSON.stringify(base?.[column]) !== JSON.stringify(head?.[column])) changed.add(column)
    }
  }
  // Where rows only came and went, all of their columns are what it is about.
  if (changed.size === 0) return { changed: [...all], same: [] }
  return {
    changed: [...all].filter((it) => changed.has(it)),
    same: [...all].filter((it) => !changed.has(it)),
  }
}
