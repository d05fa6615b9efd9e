import type { Json, JsonObject } from '../../json/json.ts'
import { entriesOf, fromEntries, getKey, isJsonObject } from '../../json/json.ts'
import { removePaths } from '../../json/remove-paths.ts'
import type { ProblemCollector } from './problem-collector.ts'
import { readDelta, refuseOtherMembers } from './read-delta.ts'

/**
 * What a delta `{set, remove}` on paths makes of `base` (ruling 4; contract/workflows 11.4, legacy form), for its family
 * to accept. `set` is merged into the root, objects recursively, anything else by replacement. Then each dotted path in
 * `remove` is taken out; one that leads nowhere is fine. Refuses a delta of another shape with `invalid_delta`;
 * `examplePath` is a path that its sentences may show.
 */
export function mergeDelta(
  base: JsonObject | undefined,
  delta: Json,
  loc: readonly (string | number)[],
  examplePath: string,
): JsonObject {
  const { set, remove } = readDelta(delta, loc, {
    entries: 'dotted paths',
    entryProblem: (path) =>
      path === '' ? `must be a path such as "${examplePath}", but it is empty` : undefined,
    check: checkMembers,
  })
  return removePaths(
    mergeJson(base ?? {}, set),
    remove.map((path) => path.split('.')),
  )
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
