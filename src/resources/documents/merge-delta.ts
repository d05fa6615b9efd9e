import type { Json, JsonObject } from '../../json/json.ts'
import { entriesOf, fromEntries, getKey, isJsonObject, keysOf } from '../../json/json.ts'
import { removePaths } from '../../json/remove-paths.ts'
import type { PayloadContext } from '../../versioning/family/family.ts'
import type { AbsentName } from './no-such-key.ts'
import { noSuchKey } from './no-such-key.ts'
import type { ProblemCollector } from './problem-collector.ts'
import { readDelta, refuseOtherMembers } from './read-delta.ts'

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
