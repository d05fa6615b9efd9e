import type { JsonObject } from '../../../base/json.ts'

/**
 * The interface of a built-in handler as JSON Schemas (interface 7.5): `parameters` is its configuration,
 * with defaults; `inputs` a request's payload; `outputs` the answer. A part that the handler does not fix is
 * absent. `x-svc-type` names an editor for the value, `x-svc-type-ref` a type of the catalog,
 * `x-svc-ui-advanced` an advanced field.
 */
export interface BuiltInSchemas {
  readonly parameters?: JsonObject
  readonly inputs?: JsonObject
  readonly outputs?: JsonObject
}
