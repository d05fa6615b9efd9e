import type { Json, JsonObject } from '../../../json/json.ts'
import { entriesOf, fromEntries } from '../../../json/json.ts'
import type { RowDelta } from './row-delta.ts'

/**
 * Makes of a row's content one with columns removed, renamed (all at once, so two may swap) and added (contract/testsets 4.2). Where a
 * new name is another column's, the later one in the row gives the value and the earlier one the place.
 */
export function rowChange({ add, remove, rename }: RowDelta['columns']): (content: JsonObject) => JsonObject {
  const removed = new Set(remove)
  const added = new Set(add)
  return (content) => {
    const members = new Map<string, Json>()
    for (const [key, value] of entriesOf(content)) {
      if (!removed.has(key)) members.set(rename.get(key) ?? key, value)
    }
    for (const key of added) if (!members.has(key)) members.set(key, '')
    return fromEntries(members)
  }
}

/** The list of columns after the same change. */
export function changeColumnNames(
  columns: readonly string[],
  { add, remove, rename }: RowDelta['columns'],
): readonly string[] {
  const removed = new Set(remove)
  const kept = columns.filter((key) => !removed.has(key)).map((key) => rename.get(key) ?? key)
  return [...new Set([...kept, ...add])]
}
