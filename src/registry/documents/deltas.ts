import type { FieldProblem, Refusal } from '../../errors.ts'
import {
  entriesOf,
  fromEntries,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  keysOf,
  removePaths,
} from '../../base/json.ts'
import { ProblemCollector, problemsRefusal, typeName, UNKNOWN_KEY, unknownKey } from './problems.ts'
import { nearestName } from '../../base/suggestions.ts'
import type { PayloadContext } from '../payload/family.ts'

/**
 * What a delta `{set, remove}` on paths makes of `base` (interface 4.4, legacy form), for its family
 * to accept. `set` is merged into the root, objects recursively, anything else by replacement. Then each dotted path in
 * `remove` is taken out. Refuses a delta of another shape with `invalid_delta`, and paths that lead nowhere with `no_such_key`, unless the context
 * has them ignored. `examplePath` is a path that its sentences may show; members that readers are shown and that are not stored (`derived`) may be
 * removed, too.
 */
export function mergeDelta(
  base: JsonObject | undefined,
  delta: Json,
  { loc, isExisting }: Pick<PayloadContext, 'loc' | 'isExisting'>,
  { examplePath, derived = [] }: { readonly examplePath: string; readonly derived?: readonly string[] },
): JsonObject {
  const { set, remove } = readDelta(delta, loc, {
    entries: 'dotted paths',
    entryProblem: (path) =>
      path === '' ? `must be a path such as "${examplePath}", but it is empty` : undefined,
    check: checkMembers,
  })
  const merged = mergeJson(base ?? {}, set)
  const paths = remove.map((path) => path.split('.'))
  if (!isExisting) refuseAbsent(merged, paths, [...loc, 'remove'], derived)
  return removePaths(merged, paths)
}

function refuseAbsent(
  data: JsonObject,
  paths: readonly (readonly string[])[],
  loc: readonly (string | number)[],
  derived: readonly string[],
): void {
  const absent: AbsentName[] = []
  for (const [index, path] of paths.entries()) {
    const name = path.join('.')
    let at: JsonObject = data
    for (const [depth, key] of path.entries()) {
      const member = getKey(at, key)
      if (member !== undefined && depth === path.length - 1) break
      if (isJsonObject(member)) at = member
      else if (!derived.includes(name)) {
        const before = path.slice(0, depth)
        const shown = (it: string): string => [...before, it].join('.')
        // Nothing is below what is no object.
        const near = member === undefined ? { known: keysOf(at), step: key } : { known: [key], step: '' }
        absent.push({ name, loc: [...loc, index], ...near, shown })
        break
      } else break
    }
  }
  if (absent.length > 0) throw noSuchKey('path of the data', absent)
}

function checkMembers(delta: JsonObject, problems: ProblemCollector): void {
  if ((getKey(delta, 'operations') ?? null) !== null) {
    problems.below('operations', () =>
      problems.add(
        'ordered operations are not supported; send {"set": {…}, "remove": ["path.of.keys"]} instead',
        'unsupported',
      ),
    )
    return
  }
  refuseOtherMembers(delta, problems)
  if (entriesOf(delta).every(([, member]) => member === null)) {
    problems.add(
      'a delta needs "set" (an object to merge into data), "remove" (a list of dotted paths) or both',
      'missing',
    )
  }
}

/**
 * `target` with `patch` merged into it: where both have an object the two are merged, anything else (null and arrays
 * too) replaces. Members keep their places, new ones follow in the order of `patch`. Neither argument is changed.
 */
export function mergeJson(target: JsonObject, patch: JsonObject): JsonObject {
  const members = new Map(entriesOf(target))
  for (const [key, value] of entriesOf(patch)) {
    const old = getKey(target, key)
    members.set(key, isJsonObject(old) && isJsonObject(value) ? mergeJson(old, value) : value)
  }
  return fromEntries(members)
}

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
