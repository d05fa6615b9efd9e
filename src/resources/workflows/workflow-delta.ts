import type { Json, JsonObject } from '../../json/json.ts'
import type { AcceptedDocument } from '../../versioning/family/document-family.ts'
import type { PayloadContext } from '../../versioning/family/family.ts'
import { mergeDelta } from '../documents/merge-delta.ts'
import { acceptWorkflowData } from './workflow-data.ts'

/**
 * The data that a delta `{set, remove}` makes of `base` (ruling 4; contract/workflows 11.4, legacy form): a null at the
 * top level of `set` unsets that field, a deeper one is stored. Refuses a delta of another shape with `invalid_delta`,
 * and a result that is no valid data with `invalid_request`.
 */
export function applyWorkflowDelta(
  base: JsonObject | undefined,
  delta: Json,
  context: PayloadContext,
): AcceptedDocument {
  const result = mergeDelta(base, delta, context.loc, 'parameters.prompt')
  // what is wrong with the result came in with `set`, save for the rare pushed base or half-removed schema
  return acceptWorkflowData(result, { ...context, loc: [...context.loc, 'set'] })
}
