import { getKey, isJsonArray, isJsonObject, type Json, type JsonObject } from '../../../json/json.ts'
import { ProblemCollector } from '../../../resources/documents/problem-collector.ts'
import type { FilteringOperator } from '../../../resources/queries/filter-words.ts'
import { isWithinBound } from '../../../resources/queries/filtering-bound.ts'
import { readFiltering } from '../../../resources/queries/query-filtering.ts'
import type { Condition } from './condition.ts'
import { readCondition } from './condition.ts'
import type { RecordTest } from './condition-test.ts'
import { conditionTest } from './condition-test.ts'
import { hintOfCondition } from './hint-of-condition.ts'
import { allOf, anyOf, type SpanHint } from './span-hint.ts'

/** A filtering (interface 12.12) made ready to be used. */
export interface TraceFilter {
  /** Whether a span's record matches. */
  readonly matches: RecordTest
  /** What a database can leave others out by; undefined when nothing can be said. */
  readonly hint: SpanHint | undefined
  /** Whether it does nothing but name traces; then windowing has no say (interface 12.12). */
  readonly onlyNamesTraces: boolean
}

/** Reads a filtering, or refuses with `invalid_request` listing every problem at its place below `loc`. */
export function readTraceFilter(filtering: Json, loc: readonly (string | number)[]): TraceFilter {
  const problems = new ProblemCollector(loc)
  const read = isWithinBound(filtering, problems) ? readFiltering(filtering, problems) : {}
  const malformed = problems.refusal('invalid_request')
  if (malformed) throw malformed
  const filter = filterOf(read, problems)
  const refusal = problems.refusal('invalid_request')
  if (refusal) throw refusal
  return filter
}

/** A filtering without conditions leaves nothing out, whatever would join them. */
function filterOf(filtering: JsonObject, problems: ProblemCollector): TraceFilter {
  // The shape was checked before: a list of objects, and one of these words.
  const conditions = getKey(filtering, 'conditions') as readonly JsonObject[]
  const operator = getKey(filtering, 'operator') as FilteringOperator
  const parts = conditions.map((item, index) =>
    problems.below('conditions', () =>
      problems.below(index, () =>
        isFiltering(item) ? filterOf(item, problems) : conditionFilter(item, problems),
      ),
    ),
  )
  if (parts.length === 0) return { matches: () => true, hint: undefined, onlyNamesTraces: false }
  const every: RecordTest = (record) => parts.every(({ matches }) => matches(record))
  const some: RecordTest = (record) => parts.some(({ matches }) => matches(record))
  const hints = parts.map(({ hint }) => hint)
  const [only] = parts
  const onlyNamesTraces = parts.length === 1 && only !== undefined && only.onlyNamesTraces
  if (operator === 'and') return { matches: every, hint: allOf(hints), onlyNamesTraces }
  if (operator === 'or') return { matches: some, hint: anyOf(hints), onlyNamesTraces }
  const test = operator === 'nor' ? some : every
  return { matches: (record) => !test(record), hint: undefined, onlyNamesTraces: false }
}

function isFiltering(item: JsonObject): boolean {
  return isJsonArray(getKey(item, 'conditions'))
}

function conditionFilter(item: JsonObject, problems: ProblemCollector): TraceFilter {
  const condition = isJsonObject(item) ? readCondition(item, problems) : undefined
  if (!condition) return { matches: () => false, hint: undefined, onlyNamesTraces: false }
  return {
    matches: conditionTest(condition),
    hint: hintOfCondition(condition),
    onlyNamesTraces: condition.kind === 'trace id' && isNaming(condition),
  }
}

function isNaming({ operator }: Condition): boolean {
  return operator === 'is' || operator === 'eq' || operator === 'in'
}
