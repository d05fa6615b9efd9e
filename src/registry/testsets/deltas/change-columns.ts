import type { FieldProblem, Refusal } from '../../../errors.ts'
import { invalid } from '../../../errors.ts'
import { type Json, type JsonObject, entriesOf, fromEntries } from '../../../base/json.ts'
import { noSuchKey } from '../../documents/deltas.ts'
import { problemsRefusal } from '../../documents/problems.ts'
import type { RowDelta } from './row-delta.ts'

/**
 * Returns a function that removes, renames (all at once, so two may swap) and adds columns in a row's content
 * (interface 8.12). A new name must not be that of a column that stays. `filled` is called for each column
 * added to a row that lacks it.
 */
export function rowChange(
  { add, remove, rename }: RowDelta['columns'],
  filled: (name: string) => void,
): (content: JsonObject) => JsonObject {
  const removed = new Set(remove)
  const added = new Set(add)
  return (content) => {
    const members = new Map<string, Json>()
    for (const [key, value] of entriesOf(content)) {
      if (!removed.has(key)) members.set(rename.get(key) ?? key, value)
    }
    for (const key of added) {
      if (members.has(key)) continue
      members.set(key, '')
      filled(key)
    }
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

/**
 * Checks that removed and renamed columns exist and that each added column is missing from some row. Refuses
 * a new name that another column has or gets, since values would be lost. Call `see` for columns that only
 * rows have, such as a push may bring.
 */
export class ColumnCheck {
  readonly #change: RowDelta['columns']
  readonly #columns: readonly string[]
  /** The removed and renamed columns. */
  readonly #leaving: ReadonlySet<string>
  readonly #unseen: Set<string>
  /** Added columns that every row seen so far already has. */
  readonly #idle: Set<string>
  readonly #newNames = new Set<string>()

  constructor(change: RowDelta['columns'], columns: readonly string[]) {
    this.#change = change
    this.#columns = columns
    const { add, remove, rename } = change
    const kept = new Set(changeColumnNames(columns, { ...change, add: [] }))
    this.#idle = new Set(add.filter((name) => kept.has(name)))
    const removed = new Set(remove)
    this.#leaving = new Set([...remove, ...rename.keys()])
    this.#unseen = new Set(this.#leaving)
    for (const [from, to] of rename) {
      // Removing a column takes precedence over renaming it.
      if (removed.has(from) || from === to) continue
      if (this.#newNames.has(to)) throw this.#taken(to, `two columns would be called "${to}"`)
      this.#newNames.add(to)
    }
    for (const name of columns) this.see(name)
  }

  /** Records an existing column. */
  see(name: string): void {
    this.#unseen.delete(name)
    if (this.#newNames.has(name) && !this.#leaving.has(name))
      throw this.#taken(name, `"${name}" is a column already: remove or rename it in the same delta`)
  }

  /** Records that a row lacked this column and gets it. */
  fill(name: string): void {
    this.#idle.delete(name)
  }

  /** Refuses names of unknown columns, and added columns that every row already has. */
  assertAllMatter(): void {
    this.#assertAllSeen()
    if (this.#idle.size === 0) return
    const { add, loc } = this.#change
    const problems = add.flatMap((name, index): FieldProblem | [] =>
      this.#idle.has(name)
        ? {
            loc: [...loc, 'add', index],
            msg: `"${name}" is a column already and no row is without it, so that to add it changes nothing; leave it out`,
            type: 'column_taken',
          }
        : [],
    )
    throw problemsRefusal('invalid_request', problems)
  }

  #assertAllSeen(): void {
    if (this.#unseen.size === 0) return
    const { remove, rename, loc } = this.#change
    const named = [
      ...remove.map((name, index) => ({ name, loc: [...loc, 'remove', index] })),
      ...Array.from(rename.keys(), (name, index) => ({ name, loc: [...loc, 'replace', index] })),
    ]
    throw noSuchKey(
      'column of the testset',
      named.filter(({ name }) => this.#unseen.has(name)).map((it) => ({ ...it, known: this.#columns })),
    )
  }

  #taken(name: string, why: string): Refusal {
    const index = [...this.#change.rename.values()].lastIndexOf(name)
    const msg = `${why}, or choose another name, since the values of one of them would be lost`
    return invalid([...this.#change.loc, 'replace', index], msg, 'column_taken')
  }
}
