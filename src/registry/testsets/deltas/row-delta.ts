import { Refusal } from '../../../errors.ts'
import type { FieldProblem } from '../../../errors.ts'
import {
  type Json,
  type JsonObject,
  entriesOf,
  getKey,
  isJsonArray,
  isJsonObject,
  keysOf,
  withoutKey,
} from '../../../base/json.ts'
import { TimeSlice } from '../../../base/scheduling.ts'
import { parseUuid } from '../../store/ids.ts'
import { refusalCode, UNKNOWN_KEY, unknownKey } from '../../documents/problems.ts'
import type { RecordReading } from '../accept-testset.ts'
import { describe, inputRows, inputTestcase, testcaseIds } from '../accept-testset.ts'
import type { InputRow } from '../import/input-row.ts'
import { DEDUP_COLUMN, METADATA_COLUMNS } from '../import/input-row.ts'

type Loc = readonly (string | number)[]

/** A parsed delta of a testset (interface 8.12). */
export interface RowDelta {
  readonly columns: {
    readonly add: readonly string[]
    readonly remove: readonly string[]
    /** New names by old names. */
    readonly rename: ReadonlyMap<string, string>
    /** The columns that come first, in this order; the others follow as they are. */
    readonly order: readonly string[]
    /** Their place in the request. */
    readonly loc: Loc
  }
  readonly replace: readonly RowById[]
  readonly remove: readonly { readonly id: string; readonly loc: Loc }[]
  readonly add: readonly InputRow[]
  /** The place of the list of added rows in the request. */
  readonly addLoc: Loc
  readonly move: readonly RowMove[]
}

/** A row to stand right after another one, both by their dedup ids. */
export interface RowMove {
  readonly dedupId: string
  /** Null: it becomes the first row. */
  readonly after: string | null
  readonly loc: Loc
}

/** New content for an existing row. */
export interface RowById {
  readonly id: string
  readonly row: InputRow
  readonly loc: Loc
}

/** Parses a delta, in slices. Refuses with all problems at once. */
export async function parseRowDelta(delta: Json, loc: Loc, isExisting: boolean): Promise<RowDelta> {
  const problems: FieldProblem[] = []
  const read = await readDelta(delta, loc, { problems, isExisting })
  if (problems.length === 0) return read
  throw new Refusal(refusalCode('invalid_request', problems), describe(problems), { errors: problems })
}

/** Whether a delta only adds rows, so that it can also be applied to a later revision. */
export function onlyAddsRows(delta: Json): boolean {
  if (!isJsonObject(delta)) return true
  const rows = getKey(delta, 'rows') ?? null
  return (
    isNothing(withoutKey(delta, 'rows')) && isNothing(isJsonObject(rows) ? withoutKey(rows, 'add') : rows)
  )
}

/** Whether a part of a delta changes nothing. Malformed parts are refused when the delta is parsed. */
function isNothing(part: Json): boolean {
  if (isJsonArray(part)) return part.length === 0
  return !isJsonObject(part) || entriesOf(part).every(([, member]) => isNothing(member))
}

async function readDelta(delta: Json, loc: Loc, reading: RecordReading): Promise<RowDelta> {
  const { problems, isExisting } = reading
  const whole = membersOf(delta, ['rows', 'columns'], loc, problems)
  const rows = membersOf(whole('rows'), ['add', 'remove', 'replace', 'move'], [...loc, 'rows'], problems)
  const columns = membersOf(
    whole('columns'),
    ['add', 'remove', 'replace', 'order'],
    [...loc, 'columns'],
    problems,
  )
  const at = (...path: string[]): Loc => [...loc, ...path]
  // Refuses parts that do nothing, as far as this can be checked without the testset.
  const idle = isExisting ? [] : problems
  const removed = names(columns('remove'), at('columns', 'remove'), problems, idle)
  const rename = renames(columns('replace'), at('columns', 'replace'), problems, { idle, removed })
  const added = names(columns('add'), at('columns', 'add'), problems, idle)
  const order = names(columns('order'), at('columns', 'order'), problems, idle)
  refuseMetadataColumns(added, at('columns', 'add'), problems)
  refuseMetadataColumns(removed, at('columns', 'remove'), problems)
  refuseMetadataColumns([...rename].flat(), at('columns', 'replace'), problems)
  return {
    columns: { add: added, remove: removed, rename, order, loc: at('columns') },
    replace: await namedRows(rows('replace'), at('rows', 'replace'), reading),
    remove: testcaseIds(rows('remove') ?? [], at('rows', 'remove'), problems).map((id, index) => ({
      id,
      loc: [...at('rows', 'remove'), index],
    })),
    add: await inputRows(rows('add') ?? [], at('rows', 'add'), reading),
    addLoc: at('rows', 'add'),
    move: rowMoves(rows('move'), at('rows', 'move'), problems),
  }
}

/** Reads optional members of an object; unknown members are a problem. */
function membersOf(
  value: Json | undefined,
  known: readonly string[],
  loc: Loc,
  problems: FieldProblem[],
): (key: string) => Json | undefined {
  if (value === undefined || value === null) return () => undefined
  if (!isJsonObject(value)) {
    problems.push({ loc, msg: `must be an object with ${known.join(', ')}`, type: 'object_type' })
    return () => undefined
  }
  for (const key of keysOf(value)) {
    if (!known.includes(key))
      problems.push({
        loc: [...loc, key],
        msg: unknownKey(key, 'this part of a delta', known, problems.length),
        type: UNKNOWN_KEY,
      })
  }
  const object: JsonObject = value
  return (key) => getKey(object, key) ?? undefined
}

/** Refuses changes to the dedup id column and the metadata columns, which are no columns of data. */
function refuseMetadataColumns(names: readonly string[], loc: Loc, problems: FieldProblem[]): void {
  for (const name of new Set(names)) {
    if (name !== DEDUP_COLUMN && !METADATA_COLUMNS.some((column) => column === name)) continue
    problems.push({ loc, msg: `must leave ${name} alone, which is no column of data`, type: 'value_error' })
  }
}

function names(value: Json | undefined, loc: Loc, problems: FieldProblem[], idle: FieldProblem[]): string[] {
  if (value === undefined) return []
  if (isJsonArray(value) && value.every((name) => typeof name === 'string')) {
    const seen = new Set<string>()
    for (const [index, name] of value.entries()) {
      if (seen.has(name)) idle.push(twice(name, [...loc, index]))
      seen.add(name)
    }
    return [...value]
  }
  problems.push({ loc, msg: 'must be an array of column names', type: 'list_type' })
  return []
}

function twice(name: string, loc: Loc): FieldProblem {
  return { loc, msg: `names the column "${name}" a second time; name it once`, type: 'value_error' }
}

function renames(
  value: Json | undefined,
  loc: Loc,
  problems: FieldProblem[],
  { idle, removed }: { readonly idle: FieldProblem[]; readonly removed: readonly string[] },
): Map<string, string> {
  const pairs = new Map<string, string>()
  const leaving = new Set(removed)
  if (value === undefined) return pairs
  if (!isJsonArray(value)) {
    problems.push({ loc, msg: 'must be an array of pairs [old, new]', type: 'list_type' })
    return pairs
  }
  for (const [index, pair] of value.entries()) {
    const [from, to, ...more] = isJsonArray(pair) ? pair : []
    const where = [...loc, index]
    if (typeof from !== 'string' || typeof to !== 'string' || more.length > 0)
      problems.push({ loc: where, msg: 'must be a pair of names, [old, new]', type: 'tuple_type' })
    else if ((pairs.get(from) ?? to) !== to)
      problems.push({
        loc: where,
        msg: `gives the column "${from}" a second new name; a column has one, so send one pair for it`,
        type: 'value_error',
      })
    else {
      if (pairs.has(from)) idle.push(twice(from, where))
      else if (leaving.has(from))
        idle.push({
          loc: where,
          msg: `renames the column "${from}", which the same delta removes; send it in columns.remove or in columns.replace`,
          type: 'value_error',
        })
      else if (from === to)
        idle.push({
          loc: where,
          msg: `gives the column "${from}" the name that it has; leave it out`,
          type: 'value_error',
        })
      pairs.set(from, to)
    }
  }
  return pairs
}

async function namedRows(value: Json | undefined, loc: Loc, reading: RecordReading): Promise<RowById[]> {
  const { problems } = reading
  if (value === undefined) return []
  if (!isJsonArray(value)) {
    problems.push({ loc, msg: 'must be an array of testcases with their ids', type: 'list_type' })
    return []
  }
  const rows: RowById[] = []
  await new TimeSlice().each(value, (item, index) => {
    const where = [...loc, index]
    const sent = isJsonObject(item) ? getKey(item, 'id') : undefined
    const id = typeof sent === 'string' ? parseUuid(sent) : undefined
    if (id === undefined) {
      const msg = 'must be the id of the testcase to replace'
      problems.push({ loc: [...where, 'id'], msg, type: 'uuid_parsing' })
      return
    }
    const row = inputTestcase(item, () => where, reading)
    if (row) rows.push({ id, row, loc: where })
  })
  return rows
}

function rowMoves(value: Json | undefined, loc: Loc, problems: FieldProblem[]): RowMove[] {
  if (value === undefined) return []
  if (!isJsonArray(value)) {
    problems.push({ loc, msg: 'must be an array of {dedup_id, after}', type: 'list_type' })
    return []
  }
  const seen = new Set<string>()
  return value.flatMap((item, index): RowMove | [] => {
    const where = [...loc, index]
    const member = membersOf(item, ['dedup_id', 'after'], where, problems)
    const [dedupId, after] = [member('dedup_id'), member('after') ?? null]
    if (typeof dedupId !== 'string' || (after !== null && typeof after !== 'string')) {
      const msg = 'must be {dedup_id, after}: two dedup ids, or null after which the row is the first'
      problems.push({ loc: where, msg, type: 'value_error' })
      return []
    }
    if (seen.has(dedupId))
      problems.push({ loc: where, msg: 'moves a row a second time; move it once', type: 'value_error' })
    seen.add(dedupId)
    return { dedupId, after, loc: where }
  })
}
