import type { Json, JsonObject } from '../../json/json.ts'
import type { AcceptedDocument } from '../../versioning/family/document-family.ts'
import type { PayloadContext } from '../../versioning/family/family.ts'
import { mergeDelta } from '../documents/merge-delta.ts'
import { acceptQueryData } from './query-data.ts'

/**
 * The data that a delta `{set, remove}` makes of `base`, as for workflows; a null in `set` unsets what it stands for, save
 * inside a condition's value. Refuses a delta of another shape with `invalid_delta`, and a result that is no valid
 * data with `invalid_request`.
 */
export function applyQueryDelta(
  base: JsonObject | undefined,
  delta: Json,
  context: PayloadContext,
): AcceptedDocument {
  const result = mergeDelta(base, delta, context.loc, 'windowing.limit')
  return acceptQueryData(result, { ...context, loc: [...context.loc, 'set'] })
}
