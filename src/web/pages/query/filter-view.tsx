import type { JsonObject } from '#routes'
import { JsonView } from '../../parts/json/json-view.tsx'
import { type Condition, type Filter, filterOf } from './filter.ts'
import styles from './query.module.css'

/** More conditions than these are shown as JSON, which folds. */
const MANY = 60

/** What a query asks of traces, in words. */
export function FilterView({ data = {} }: { readonly data: JsonObject | undefined }) {
  const { filtering, formatting, windowing } = data
  const filter = filterOf(filtering)
  const count = countOf(filter)
  const isSpans = focusOf(data) === 'span'
  return (
    <section className={styles.filter} aria-label="What it asks">
      <h2>{isSpans ? 'Spans' : 'Traces with a span'} that meet</h2>
      {count === 0 ? (
        <p>no condition: it finds every {isSpans ? 'span' : 'trace'}.</p>
      ) : count > MANY ? (
        <p>{count.toLocaleString()} conditions, as JSON below.</p>
      ) : (
        <Parts filter={filter} />
      )}
      {windowing !== undefined && (
        <p className={styles.muted}>
          Of those, the part that it keeps: <code>{JSON.stringify(windowing)}</code>
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
      <p className={styles.muted}>{filter.join}</p>
      <ul>
        {filter.parts.map((part, at) => (
          <li key={at}>{'join' in part ? <Parts filter={part} /> : <Said condition={part} />}</li>
        ))}
      </ul>
    </div>
  )
}

function Said({ condition: { field, relation, value } }: { readonly condition: Condition }) {
  return (
    <span className={styles.condition}>
      <code dir="auto">{field.slice(0, 200)}</code> {relation}{' '}
      {value !== undefined && <b dir="auto">{value.slice(0, 300)}</b>}
    </span>
  )
}

function countOf(filter: Filter): number {
  return filter.parts.reduce((sum, part) => sum + ('join' in part ? countOf(part) : 1), 0)
}

/** Whether a query is about traces or single spans. */
export function focusOf(data: JsonObject | undefined): 'trace' | 'span' {
  const formatting = data?.['formatting']
  const isSpan =
    typeof formatting === 'object' &&
    formatting !== null &&
    'focus' in formatting &&
    formatting.focus === 'span'
  return isSpan ? 'span' : 'trace'
}
