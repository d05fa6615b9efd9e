import { Refusal } from '../../errors.ts'
import type { FieldProblem } from '../../errors.ts'
import {
  countValues,
  type Json,
  type JsonObject,
  getKey,
  isJsonArray,
  isJsonObject,
  keysOf,
} from '../../base/json.ts'
import type { AcceptedPayload, PayloadContext } from '../payload/family.ts'
import { parseUuid } from '../store/ids.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { refusalCode, UNKNOWN_KEY, unknownKey } from '../documents/problems.ts'
import type { InputRow } from './import/input-row.ts'
import { limitExceeded } from './import/row-collector.ts'
import { inputRow, MOST_ROW_VALUES } from './import/input-row.ts'
import type { TestsetPayload } from './testset-payload.ts'

type Loc = readonly (string | number)[]

/**
 * Reads the `data` of a testset commit: `testcases`, or else `testcase_ids` of existing rows (interface
 * 8.11). Refuses with all problems at once.
 */
export async function acceptTestset(
  data: Json,
  { loc, isExisting = false }: PayloadContext,
): Promise<AcceptedPayload> {
  const problems: FieldProblem[] = []
  const accept = (payload: TestsetPayload): AcceptedPayload => {
    if (problems.length === 0) return { payload, warnings: [] }
    throw new Refusal(refusalCode('invalid_request', problems), describe(problems), { errors: problems })
  }
  if (!isJsonObject(data)) {
    problems.push({ loc, msg: 'must be an object with testcases or testcase_ids', type: 'object_type' })
    return accept(EMPTY)
  }
  for (const key of keysOf(data)) {
    if (key === 'testcases' || key === 'testcase_ids') continue
    problems.push({
      loc: [...loc, key],
      msg: unknownKey(key, 'a testset', ['testcases', 'testcase_ids'], problems.length),
      type: UNKNOWN_KEY,
    })
  }
  const testcases = getKey(data, 'testcases') ?? null
  if (testcases !== null)
    return accept({
      kind: 'sent',
      rows: await inputRows(testcases, [...loc, 'testcases'], { problems, isExisting }),
    })
  const ids = getKey(data, 'testcase_ids') ?? null
  if (ids !== null) {
    const where = [...loc, 'testcase_ids']
    return accept({ kind: 'named', ids: testcaseIds(ids, where, problems), loc: where })
  }
  return accept(EMPTY)
}

/** How testcase records are read. */
export interface RecordReading {
  /** Collects the problems found. */
  readonly problems: FieldProblem[]
  /** Ignores unknown keys, for clients of the existing service. */
  readonly isExisting: boolean
}

/** Converts a list of testcase records to rows, in slices. */
export async function inputRows(value: Json, loc: Loc, reading: RecordReading): Promise<InputRow[]> {
  const { problems } = reading
  if (!isJsonArray(value)) {
    problems.push({ loc, msg: 'must be an array of testcases', type: 'list_type' })
    return []
  }
  const rows: InputRow[] = []
  await new TimeSlice().each(value, (testcase, index) => {
    const row = inputTestcase(testcase, () => [...loc, index], reading)
    if (row) rows.push(row)
  })
  return rows
}

/**
 * Converts a testcase record to a row; undefined, with problems added, if it is invalid. `locOf` is called
 * only for a problem.
 */
export function inputTestcase(
  value: Json,
  locOf: () => Loc,
  { problems, isExisting }: RecordReading,
): InputRow | undefined {
  if (!isJsonObject(value)) {
    problems.push({ loc: locOf(), msg: 'must be an object like {"data": {…}}', type: 'object_type' })
    return undefined
  }
  for (const key of keysOf(value)) {
    if (isExisting || RECORD_KEYS.has(key)) continue
    problems.push({
      loc: [...locOf(), key],
      msg: `${unknownKey(key, 'a testcase', TESTCASE_KEYS, problems.length)}; its columns go into data`,
      type: UNKNOWN_KEY,
    })
  }
  if (countValues(value, MOST_ROW_VALUES) > MOST_ROW_VALUES)
    throw limitExceeded('values a row', MOST_ROW_VALUES)
  const data = getKey(value, 'data') ?? EMPTY_OBJECT
  if (!isJsonObject(data)) {
    problems.push({ loc: [...locOf(), 'data'], msg: 'must be an object', type: 'object_type' })
    return undefined
  }
  try {
    return inputRow(data, value, (key, msg) => {
      const where = hasOwnField(value, key) ? [...locOf(), key] : [...locOf(), 'data', key]
      problems.push({ loc: where, msg, type: 'value_error' })
      throw REFUSED
    })
  } catch (error) {
    if (error === REFUSED) return undefined
    throw error
  }
}

/** Parses a list of testcase ids into lower case. */
export function testcaseIds(value: Json, loc: Loc, problems: FieldProblem[]): string[] {
  if (!isJsonArray(value)) {
    problems.push({ loc, msg: 'must be an array of testcase ids', type: 'list_type' })
    return []
  }
  return value.flatMap((item, index) => {
    const id = typeof item === 'string' ? parseUuid(item) : undefined
    if (id === undefined)
      problems.push({ loc: [...loc, index], msg: 'is no testcase id', type: 'uuid_parsing' })
    return id ?? []
  })
}

/** One sentence that names the problems of a list, at most the first 20. */
export function describe(problems: readonly FieldProblem[]): string {
  const shown = problems.slice(0, 20).map(({ loc, msg }) => `${loc.join('.')} ${msg}.`)
  const more = problems.length - shown.length
  return more > 0 ? `${shown.join(' ')} And ${more} more.` : shown.join(' ')
}

const EMPTY: TestsetPayload = { kind: 'sent', rows: [] }
const EMPTY_OBJECT: JsonObject = {}
const REFUSED = new Error('refused')

const TESTCASE_KEYS = ['data', 'flags', 'tags', 'meta']

/** The keys a testcase record may have; a record that was read can be sent back. */
const RECORD_KEYS = new Set([
  ...TESTCASE_KEYS,
  ...['id', 'testset_id', 'set_id'],
  ...['created_at', 'created_by_id', 'updated_at', 'updated_by_id', 'deleted_at', 'deleted_by_id'],
])

function hasOwnField(value: JsonObject, key: string): boolean {
  return (key === 'flags' || key === 'tags' || key === 'meta') && getKey(value, key) !== undefined
}
