import type { FieldProblem } from '../../errors.ts'
import { getKey, isJsonArray, isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { mergeJson } from '../../json/merge-json.ts'
import { removePath } from '../../json/remove-path.ts'
import type { AcceptedDocument } from '../../versioning/document-family.ts'
import type { PayloadContext } from '../../versioning/family.ts'
import { problemsRefusal } from './problems-refusal.ts'
import { typeName } from './type-name.ts'
import { acceptWorkflowData } from './workflow-data.ts'

/**
 * The data that a delta `{set, remove}` makes of `base` (ruling 4; contract/workflows 11.4, legacy form). `set` is
 * merged into the root of the data, objects recursively, anything else by replacement; a null at the top level unsets
 * that field, a deeper one is stored. Then each dotted path in `remove` is taken out; one that leads nowhere is fine.
 * Refuses a delta of another shape with `invalid_delta`, and a result that is no valid data with `invalid_request`.
 */
export function applyWorkflowDelta(
  base: JsonObject | undefined,
  delta: Json,
  context: PayloadContext,
): AcceptedDocument {
  const { set, remove } = readDelta(delta, context.loc)
  const merged = mergeJson(base ?? {}, set)
  const result = remove.reduce((data, path) => removePath(data, path.split('.')), merged)
  // what is wrong with the result came in with `set`, save for the rare pushed base or half-removed schema
  return acceptWorkflowData(result, { ...context, loc: [...context.loc, 'set'] })
}

interface WorkflowDelta {
  readonly set: JsonObject
  readonly remove: readonly string[]
}

function readDelta(delta: Json, loc: readonly (string | number)[]): WorkflowDelta {
  if (!isJsonObject(delta)) {
    throw problemsRefusal('invalid_delta', [
      { loc, msg: `delta must be an object, but it is ${typeName(delta)}`, type: 'object_type' },
    ])
  }
  if ((getKey(delta, 'operations') ?? null) !== null) {
    const msg = 'ordered operations are not supported; send {"set": {…}, "remove": ["path.of.keys"]} instead'
    throw problemsRefusal('invalid_delta', [{ loc: [...loc, 'operations'], msg, type: 'extra_forbidden' }])
  }
  const set = getKey(delta, 'set') ?? null
  const remove = getKey(delta, 'remove') ?? null
  if (set === null && remove === null) {
    const msg =
      'a delta needs "set" (an object to merge into data), "remove" (a list of dotted paths) or both'
    throw problemsRefusal('invalid_delta', [{ loc, msg, type: 'missing' }])
  }
  const problems = [...setProblems(set, [...loc, 'set']), ...removeProblems(remove, [...loc, 'remove'])]
  if (problems.length > 0) throw problemsRefusal('invalid_delta', problems)
  return {
    set: isJsonObject(set) ? set : {},
    remove: isJsonArray(remove) ? remove.filter((path) => typeof path === 'string') : [],
  }
}

function setProblems(set: Json, loc: readonly (string | number)[]): readonly FieldProblem[] {
  if (set === null || isJsonObject(set)) return []
  return [{ loc, msg: `set must be an object, but it is ${typeName(set)}`, type: 'object_type' }]
}

function removeProblems(remove: Json, loc: readonly (string | number)[]): readonly FieldProblem[] {
  if (remove === null) return []
  if (!isJsonArray(remove)) {
    return [
      { loc, msg: `remove must be a list of dotted paths, but it is ${typeName(remove)}`, type: 'list_type' },
    ]
  }
  return remove.flatMap((path, index) => {
    if (typeof path === 'string' && path !== '') return []
    const found = path === '' ? 'empty' : typeName(path)
    const msg = `a path to remove must be text such as "parameters.prompt", but it is ${found}`
    return [{ loc: [...loc, index], msg, type: 'string_type' }]
  })
}
