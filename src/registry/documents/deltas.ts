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
 * Applies a delta `{set, remove}` on paths to `base` (interface 4.4, legacy form); the family then validates the result. `set` is merged
 * into the root: objects recursively, anything else by replacement. Then each dotted path in `remove` is removed. Refuses a delta of
 * another shape with `invalid_delta`, and paths that lead nowhere with `no_such_key`, unless the context ignores these. `examplePath` is a
 * path for use in sentences. Members that readers see but that are not stored (`derived`) may be removed, too.
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
        // A value that is not an object has no members.
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
 * `target` with `patch` merged into it: two objects are merged, anything else (null and arrays too) is replaced. Members keep their places;
 * new ones follow in the order of `patch`. Neither argument is changed.
 */
export function mergeJson(target: JsonObject, patch: JsonObject): JsonObject {
  const members = new Map(entriesOf(target))
  for (const [key, value] of entriesOf(patch)) {
    const old = getKey(target, key)
    members.set(key, isJsonObject(old) && isJsonObject(value) ? mergeJson(old, value) : value)
  }
  return fromEntries(members)
}

/** A change of a document: members to set, then entries to remove. */
export interface Delta {
  readonly set: JsonObject
  readonly remove: readonly string[]
}

/** A family's rules for deltas. */
export interface DeltaForm {
  /** The kind of entries in `remove`: "dotted paths". */
  readonly entries: string
  /** The problem of a text entry; undefined if there is none. */
  entryProblem(text: string): string | undefined
  /** Adds the delta's problems, except those about the shapes of `set` and `remove`. */
  check(delta: JsonObject, problems: ProblemCollector): void
}

/**
 * Reads a client's delta `{set, remove}`; a null or absent part is empty. Refuses another shape with one `invalid_delta` that lists every
 * problem at its place below `loc`.
 */
export function readDelta(delta: Json, loc: readonly (string | number)[], form: DeltaForm): Delta {
  const problems = new ProblemCollector(loc)
  const read = isJsonObject(delta) ? readParts(delta, form, problems) : notAnObject('delta', delta, problems)
  const refusal = problems.refusal('invalid_delta')
  if (refusal) throw refusal
  return read
}

/** Adds as problems the members other than `set` and `remove`; a null counts as absent. */
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

/** A name that a delta removes or renames, and that does not exist. */
export interface AbsentName {
  readonly name: string
  /** Its place in the request. */
  readonly loc: readonly (string | number)[]
  /** The existing names at that place. */
  readonly known: Iterable<string>
  /** The part of the name to compare with these, if not the whole. */
  readonly step?: string
  /** How to show an existing name: it may be the step of a longer path. */
  readonly shown?: (known: string) => string
}

/** The number of absent names for which similar names are searched, and the number of existing names listed if none is similar. */
const MOST_COMPARED = 3
const MOST_TOLD = 10

/**
 * The refusal of a delta that names something missing. Nothing is stored, so a client cannot believe that it removed something that merely
 * has another name. `what` describes the names: "key of the environment".
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
