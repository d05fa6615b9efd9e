import type { JsonObject } from '#routes'
import { JsonView } from '../../parts/json/json-view.tsx'
import styles from './query.module.css'
import { membersOf } from '../../api/json.ts'

/** More conditions are shown as JSON. */
const MANY = 60

/** The filter of a query in words. */
export function FilterView({ data = {} }: { readonly data: JsonObject | undefined }) {
  const { filtering, formatting, windowing } = data
  const filter = filterOf(filtering)
  const count = countOf(filter)
  const isSpans = focusOf(data) === 'span'
  return (
    <section className={`card ${styles.filter}`} aria-label="What it asks">
      <h2>{isSpans ? 'Spans' : 'Traces with a span'} that meet</h2>
      {count === 0 ? (
        <p>no condition: it matches every {isSpans ? 'span' : 'trace'}.</p>
      ) : count > MANY ? (
        <p>{count.toLocaleString()} conditions, as JSON below.</p>
      ) : (
        <Parts filter={filter} />
      )}
      {windowing !== undefined && (
        <p className="muted">
          Limited to: <code>{JSON.stringify(windowing)}</code>
        </p>
      )}
      <details>
        <summary>As JSON</summary>
        <JsonView value={{ filtering, formatting, windowing }} depth={3} />
      </details>
    </section>
  )
}

function Parts({ filter }: { readonly filter: Filter }) {
  return (
    <div className={styles.group}>
      <p className="muted">{filter.join}</p>
      <ul>
        {filter.parts.map((part, at) => (
          <li key={at}>{'join' in part ? <Parts filter={part} /> : <Said condition={part} />}</li>
        ))}
      </ul>
    </div>
  )
}

function Said({ condition: { field, relation, value } }: { readonly condition: Condition }) {
  const words = WORDS[[field, relation, value].join(' ').trim()]
  if (words !== undefined) return <span className={styles.condition}>{words}</span>
  return (
    <span className={styles.condition}>
      <code dir="auto">{field.slice(0, 200)}</code> {relation}{' '}
      {value !== undefined && <b dir="auto">{value.slice(0, 300)}</b>}
    </span>
  )
}

/** Conditions that the search of traces makes. */
const WORDS: Readonly<Record<string, string>> = {
  'status_code is STATUS_CODE_OK': 'succeeded',
  'status_code is STATUS_CODE_ERROR': 'failed',
  'attributes svc.draft is not there': 'is no draft',
  'span_name is not annotation': 'is no feedback',
}

function countOf(filter: Filter): number {
  return filter.parts.reduce((sum, part) => sum + ('join' in part ? countOf(part) : 1), 0)
}

/** Whether a query is about traces or single spans. */
export function focusOf(data: JsonObject | undefined): 'trace' | 'span' {
  return membersOf(data?.['formatting'])['focus'] === 'span' ? 'span' : 'trace'
}

/** A filter of traces from `data.filtering`: joined conditions, which may be filters. */
interface Filter {
  readonly join: string
  readonly parts: readonly (Filter | Condition)[]
}

/** A condition in words: field, relation, value. */
interface Condition {
  readonly field: string
  readonly relation: string
  readonly value: string | undefined
}

/** Reads a filter for display. It may have been pushed, so it may have any shape. */
function filterOf(filtering: unknown): Filter {
  const { operator, conditions } = membersOf(filtering)
  return {
    join: JOINS[String(operator ?? 'and')] ?? String(operator),
    parts: (Array.isArray(conditions) ? conditions : []).map((part: unknown) =>
      'conditions' in membersOf(part) ? filterOf(part) : conditionOf(part),
    ),
  }
}

function conditionOf(part: unknown): Condition {
  const { field, key, operator, value } = membersOf(part)
  const name = [field, key].filter((it) => it !== undefined && it !== null).map(String)
  const relation = String(operator ?? (field === 'content' ? 'contains' : 'is'))
  return {
    field: name.join(' '),
    relation: RELATIONS[relation] ?? relation,
    value: value === undefined ? undefined : typeof value === 'string' ? value : JSON.stringify(value),
  }
}

const JOINS: Readonly<Record<string, string>> = {
  and: 'All of these',
  or: 'At least one of these',
  not: 'Not all of these',
  nand: 'Not all of these',
  nor: 'None of these',
}

const RELATIONS: Readonly<Record<string, string>> = {
  is: 'is',
  is_not: 'is not',
  eq: '=',
  neq: '≠',
  gt: '>',
  gte: '≥',
  lt: '<',
  lte: '≤',
  btwn: 'lies between',
  in: 'is one of',
  not_in: 'is none of',
  has: 'has',
  has_not: 'does not have',
  exists: 'is there',
  not_exists: 'is not there',
  startswith: 'begins with',
  endswith: 'ends with',
  contains: 'contains',
  matches: 'matches',
  like: 'is like',
}
