import type { JsonObject } from '../../../json/json.ts'
import { evaluatorInterfaces } from './evaluator-schemas.ts'
import { effectiveVersion, isManaged, type HandlerUri } from '../handler-uri.ts'
import { judgeInterfaces } from './judge-schemas.ts'
import { matchInterface } from './match-schemas.ts'
import { promptInterfaces } from './prompt-schemas.ts'

/**
 * What a built-in handler takes and answers, as JSON Schemas (contract/handlers 1.5): `parameters` is its
 * configuration, with defaults; `inputs` a request's payload; `outputs` the answer. A part the handler does not fix is
 * absent. `x-svc-type` names an editor for the value, `x-svc-type-ref` a type of the catalog, `x-svc-ui-advanced` a
 * field that most people leave alone.
 */
export interface BuiltInInterface {
  readonly parameters?: JsonObject
  readonly inputs?: JsonObject
  readonly outputs?: JsonObject
}

/** The interface of a built-in handler; undefined for other handlers and for those that fix no schema. */
export function builtInInterface(uri: HandlerUri | undefined): BuiltInInterface | undefined {
  if (!isManaged(uri) || uri.kind !== 'builtin' || effectiveVersion(uri) !== 'v0') return undefined
  return interfaces.get(uri.key)
}

const interfaces: ReadonlyMap<string, BuiltInInterface> = new Map<string, BuiltInInterface>([
  ...Object.entries(promptInterfaces()),
  ...Object.entries(evaluatorInterfaces()),
  ...Object.entries(judgeInterfaces()),
  ['match', matchInterface()],
])
