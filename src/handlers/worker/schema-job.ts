import type { JsonObject } from '../../json/json.ts'
import { parseJson } from '../../json/parse-json.ts'
import { compileSchema, type SchemaCheck } from '../../resources/workflows/schemas/compile-schema.ts'
import type { WorkerJobResult, SchemaJob } from './long-job.ts'

/** The schema that was asked for last, which is often asked for again. */
let last: { readonly key: string; readonly check: SchemaCheck } | undefined

/** Holds a value against a schema, here and now. */
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

/** What comes here was read once already. */
const DEEP = { maxDepth: Infinity }
