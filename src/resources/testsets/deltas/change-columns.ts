import type { FieldProblem, Refusal } from '../../../errors.ts'
import { invalid } from '../../../errors.ts'
import type { Json, JsonObject } from '../../../json/json.ts'
import { entriesOf, fromEntries } from '../../../json/json.ts'
import { noSuchKey } from '../../documents/deltas.ts'
import { problemsRefusal } from '../../documents/problems.ts'
import type { RowDelta } from './row-delta.ts'

/**
 * Makes of a row's content one with columns removed, renamed (all at once, so two may swap) and added (interface 8.12). No new name is
 * that of a column that stays. `filled` is told of each column that a row did not have and gets.
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
 * Looks whether each column that a change removes or renames is there and whether each that it adds is wanting somewhere, and refuses what
 * would lose values: a new name that another column has or gets. Columns that only rows have, as a push may bring them, are told by `see`.
 */
export class ColumnCheck {
  readonly #change: RowDelta['columns']
  readonly #columns: readonly string[]
  /** Those that are removed or get another name. */
  readonly #leaving: ReadonlySet<string>
  readonly #unseen: Set<string>
  /** Those that are added though the testset has them, until a row is seen that does not. */
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
      // To remove a column beats to rename it.
      if (removed.has(from) || from === to) continue
      if (this.#newNames.has(to)) throw this.#taken(to, `two columns would be called "${to}"`)
      this.#newNames.add(to)
    }
    for (const name of columns) this.see(name)
  }

  /** A column that is there. */
  see(name: string): void {
    this.#unseen.delete(name)
    if (this.#newNames.has(name) && !this.#leaving.has(name))
      throw this.#taken(name, `"${name}" is a column already: remove or rename it in the same delta`)
  }

  /** A column that a row did not have and gets. */
  fill(name: string): void {
    this.#idle.delete(name)
  }

  /** Refuses names of which no column was seen, and columns to add that every row has. */
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
