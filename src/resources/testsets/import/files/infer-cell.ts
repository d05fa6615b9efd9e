import { JsonTextError } from '../../../../json/json-text-error.ts'
import type { Json } from '../../../../json/json.ts'
import { parseJson } from '../../../../json/parse-json.ts'
import { MAX_ROW_DEPTH } from './file-row.ts'

const SCALAR = /^(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)$/

/**
 * What a cell says under `types=infer`: exactly `true`, `false`, `null` or a JSON number (kept digit for digit), or the
 * whole of a JSON object or array that can be kept. Anything else is a string: `TRUE`, ` 1`, `007`, `NaN`, `{a}`.
 */
export function inferCell(cell: string): Json {
  if (!mayBeJson(cell)) return cell
  try {
    return parseJson(cell, { maxDepth: MAX_ROW_DEPTH })
  } catch (error) {
    if (error instanceof JsonTextError) return cell
    throw error
  }
}

const ARRAY = /^\[[ \t\r\n]*(?:[\]"{[\-0-9]|true|false|null)/
const OBJECT = /^\{[ \t\r\n]*["}]/

/** Tells ordinary text (`[sic]` too) apart, because an error thrown for each cell would take longer than all the rest. */
function mayBeJson(cell: string): boolean {
  const first = cell.charAt(0)
  if (first === '{') return cell.endsWith('}') && OBJECT.test(cell)
  if (first === '[') return cell.endsWith(']') && ARRAY.test(cell)
  return SCALAR.test(cell)
}
