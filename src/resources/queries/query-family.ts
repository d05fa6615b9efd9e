import type { DocumentDefinition } from '../../versioning/family/document-family.ts'
import { documentFamily } from '../../versioning/family/document-family.ts'
import { acceptQueryData } from './query-data.ts'
import { applyQueryDelta } from './query-delta.ts'
import { DATA_FILE, decodeQuery, encodeQuery, isQueryFile } from './query-files.ts'

/** What a query's payload is: its `data` object, and how it lies in a file. */
export const queryDocument: DocumentDefinition = {
  name: 'query',
  folder: 'queries',
  roles: [],
  flagNames: [],
  ownsFile: isQueryFile,
  file: DATA_FILE,
  encode: encodeQuery,
  decode: decodeQuery,
  accept: acceptQueryData,
  applyDelta: applyQueryDelta,
  flags: () => ({}),
  present: (data) => data,
}

/** Queries: saved filters of traces (ruling 8, contract/testsets 9). */
export const queryFamily = documentFamily(queryDocument)
