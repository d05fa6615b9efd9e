import { useState } from 'react'
import { ExactNumber } from '../../api/exact-json.ts'
import { JsonView } from '../json/json-view.tsx'
import styles from './diff.module.css'
import type { FieldChange } from './model/json-changes.ts'
import { LineText } from './lines/line-text.tsx'
import { visible } from './model/visible.ts'
import { wordMarks } from './model/word-marks.ts'

export interface FieldChangesProps {
  readonly label: string
  readonly fields: readonly FieldChange[]
}

const PAGE = 100
const SIGNS = { added: '+', removed: '−', changed: '±' } as const

/** Values by their place: what was, and what is. */
export function FieldChanges({ label, fields }: FieldChangesProps) {
  const [shown, setShown] = useState(PAGE)
  if (fields.length === 0) return null
  return (
    <div className={styles.framed}>
      <table className={styles.fields} aria-label={label}>
        <thead>
          <tr>
            <th scope="col">Place</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {fields.slice(0, shown).map((field, at) => (
            <Field key={at} field={field} />
          ))}
        </tbody>
      </table>
      {fields.length > shown && (
        <button type="button" className={styles.more} onClick={() => setShown(shown + PAGE)}>
          {(fields.length - shown).toLocaleString()} more
        </button>
      )}
    </div>
  )
}

function Field({ field: { place, base, head, kind } }: { readonly field: FieldChange }) {
  const marks = typeof base === 'string' && typeof head === 'string' ? wordMarks(base, head) : undefined
  return (
    <tr data-change>
      <th scope="row" title={kind}>
        <span className={styles.sign} aria-label={kind} role="img">
          {SIGNS[kind]}
        </span>
        <bdi>{visible(place)}</bdi>
      </th>
      <td data-name="Before" dir="auto" className={base === undefined ? undefined : styles.base}>
        {marks ? <LineText side="base" parts={marks.base} /> : <Value side="base" value={base} />}
      </td>
      <td data-name="After" dir="auto" className={head === undefined ? undefined : styles.head}>
        {marks ? <LineText side="head" parts={marks.head} /> : <Value side="head" value={head} />}
      </td>
    </tr>
  )
}

function Value({ side, value }: { readonly side: 'base' | 'head'; readonly value: unknown }) {
  if (value === undefined) return <span className={styles.none}>none</span>
  if (typeof value === 'string') {
    if (value === '') return <span className={styles.none}>empty text</span>
    return <LineText side={side} parts={[{ text: value, isChanged: false }]} />
  }
  if (typeof value === 'object' && value !== null && !(value instanceof ExactNumber))
    return <JsonView value={value} depth={1} />
  return String(value)
}
