import type { Json, JsonObject } from '../../json/json.ts'
import type { AcceptedDocument, DocumentDefinition } from '../../versioning/family/document-family.ts'
import { documentFamily } from '../../versioning/family/document-family.ts'
import type { PayloadContext } from '../../versioning/family/family.ts'
import { threadOf } from '../documents/document-thread.ts'
import { mergeDelta } from '../documents/merge-delta.ts'
import { acceptQueryData } from './query-data.ts'
import { QUERY_DATA_FILE, decodeQuery, encodeQuery, isQueryFile } from './query-files.ts'

/** What a query's payload is: its `data` object, and how it lies in a file. */
export const queryDocument: DocumentDefinition = {
  name: 'query',
  folder: 'queries',
  roles: [],
  flagNames: [],
  ownsFile: isQueryFile,
  file: QUERY_DATA_FILE,
  encode: encodeQuery,
  decode: decodeQuery,
  thread: threadOf({ name: 'query' }),
  accept: acceptQueryData,
  applyDelta: applyQueryDelta,
  flags: () => ({}),
  present: (data) => data,
}

/** Queries: saved filters of traces (interface 13.4). */
export const queryFamily = documentFamily(queryDocument)

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
  const result = mergeDelta(base, delta, context, { examplePath: 'windowing.limit' })
  return acceptQueryData(result, { ...context, loc: [...context.loc, 'set'] })
}
