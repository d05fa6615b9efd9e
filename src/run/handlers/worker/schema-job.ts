import { type JsonObject, parseJson } from '../../../base/json.ts'
import { compileSchema, type SchemaCheck } from '../../../registry/workflows.ts'
import type { WorkerJobResult, SchemaJob } from './long-job.ts'

/** The last schema, because it is often needed again. */
let last: { readonly key: string; readonly check: SchemaCheck } | undefined

/** Validates a value against a schema on this thread. */
export function doSchemaJob({ schema, part, value }: SchemaJob): WorkerJobResult {
  const key = `${part} ${schema}`
  try {
    // the text of a JsonObject
    if (last?.key !== key) last = { key, check: compileSchema(parseJson(schema, DEEP) as JsonObject, part) }
    const problem = last.check(parseJson(value, DEEP))
    return problem === undefined ? { found: true } : { problem }
  } catch (error) {
    if (error instanceof RangeError) return { unusable: 'it is too large, or leads too deep' }
    return { unusable: error instanceof Error ? error.message : String(error) }
  }
}

/** The text was already parsed once, within the limits. */
const DEEP = { maxDepth: Infinity }
