import { entriesOf, getKey, isJsonArray, isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { ProblemCollector } from './problem-collector.ts'
import { UNKNOWN_KEY } from './problems-refusal.ts'
import { typeName } from './type-name.ts'
import { unknownKey } from './unknown-key.ts'

/** A change of a document: members to set, and what to remove after that. */
export interface Delta {
  readonly set: JsonObject
  readonly remove: readonly string[]
}

/** What a family lays down for its deltas. */
export interface DeltaForm {
  /** What `remove` lists: "dotted paths". */
  readonly entries: string
  /** What is wrong with one that is text, undefined if nothing is. */
  entryProblem(text: string): string | undefined
  /** Adds what is wrong with the delta but for the shapes of `set` and `remove`. */
  check(delta: JsonObject, problems: ProblemCollector): void
}

/**
 * The delta `{set, remove}` that a client sent; a part that is null or absent is empty. Refuses another shape with one
 * `invalid_delta` that lists every problem at its place below `loc`.
 */
export function readDelta(delta: Json, loc: readonly (string | number)[], form: DeltaForm): Delta {
  const problems = new ProblemCollector(loc)
  const read = isJsonObject(delta) ? readParts(delta, form, problems) : notAnObject('delta', delta, problems)
  const refusal = problems.refusal('invalid_delta')
  if (refusal) throw refusal
  return read
}

/** Adds as problems what a delta has beside `set` and `remove`; a null is absent. */
export function refuseOtherMembers(delta: JsonObject, problems: ProblemCollector): void {
  for (const [key, member] of entriesOf(delta)) {
    if (member === null || key === 'set' || key === 'remove') continue
    problems.below(key, () => problems.add(() => unknownKey(key, 'a delta', ['set', 'remove']), UNKNOWN_KEY))
  }
}

function readParts(delta: JsonObject, form: DeltaForm, problems: ProblemCollector): Delta {
  form.check(delta, problems)
  const set = getKey(delta, 'set') ?? {}
  if (!isJsonObject(set)) problems.below('set', () => notAnObject('set', set, problems))
  const remove = getKey(delta, 'remove') ?? []
  return {
    set: isJsonObject(set) ? set : {},
    remove: problems.below('remove', () => readRemove(remove, form, problems)),
  }
}

function notAnObject(name: string, value: Json, problems: ProblemCollector): Delta {
  problems.add(`${name} must be an object, but it is ${typeName(value)}`, 'object_type')
  return { set: {}, remove: [] }
}

const MOST_REMOVED = 10_000

function readRemove(remove: Json, form: DeltaForm, problems: ProblemCollector): readonly string[] {
  if (!isJsonArray(remove)) {
    problems.add(`remove must be a list of ${form.entries}, but it is ${typeName(remove)}`, 'list_type')
    return []
  }
  if (remove.length > MOST_REMOVED) {
    problems.add(
      `remove must have at most ${MOST_REMOVED} ${form.entries}, but it has ${remove.length}; send several deltas`,
      'too_long',
    )
    return []
  }
  return remove.filter((entry, index): entry is string => {
    const problem =
      typeof entry === 'string' ? form.entryProblem(entry) : `must be text, but it is ${typeName(entry)}`
    if (problem === undefined) return true
    problems.below(index, () => problems.add(`an entry of remove ${problem}`, 'string_type'))
    return false
  })
}
