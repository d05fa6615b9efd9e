import type { FieldProblem, Refusal } from '../../errors.ts'
import { nearestName } from '../../suggestions/nearest-name.ts'
import { problemsRefusal } from './problems-refusal.ts'

/** Something that a delta removes or renames, and that is not there. */
export interface AbsentName {
  readonly name: string
  /** Where the request names it. */
  readonly loc: readonly (string | number)[]
  /** What is there in its place. */
  readonly known: Iterable<string>
  /** What of the name is compared with these, where that is not all of it. */
  readonly step?: string
  /** What a known one is called where it stands: behind it there may be more of a path. */
  readonly shown?: (known: string) => string
}

/** Near names are looked for so many times, and so many are told of where none is near. */
const MOST_COMPARED = 3
const MOST_TOLD = 10

/**
 * The refusal of a delta that names what is not there: nothing is stored, so that nobody takes for gone what only has another name. `what` is
 * what such a name is of: "key of the environment".
 */
export function noSuchKey(what: string, absent: readonly AbsentName[]): Refusal {
  const problems = absent.map((it, index): FieldProblem => ({
    loc: it.loc,
    msg: `"${it.name}" is no ${what}${remedy(it, index)}`,
    type: 'no_such_key',
  }))
  return problemsRefusal('no_such_key', problems)
}

function remedy({ name, known, step = name, shown = (it) => it }: AbsentName, index: number): string {
  if (index >= MOST_COMPARED) return ''
  const names = [...known]
  const meant = nearestName(step, names)
  if (meant !== undefined) return `; did you mean "${shown(meant)}"?`
  if (names.length === 0) return '; there is none'
  const told = names.slice(0, MOST_TOLD).map((it) => `"${shown(it)}"`)
  const others = names.length - told.length
  return `; there are ${told.join(', ')}${others > 0 ? ` and ${others} others` : ''}`
}
