import { type ReactNode, useMemo } from 'react'
import { dataChanges } from './model/data-changes.ts'
import { DiffFrame } from './diff-frame.tsx'
import styles from './diff.module.css'
import { FieldChanges } from './field-changes.tsx'
import { LineTable } from './lines/line-table.tsx'
import { MessageDiffs } from './message-diffs.tsx'
import { visible } from './model/visible.ts'

export interface DataDiffProps {
  /** The payload before; undefined where there was none. */
  readonly base: unknown
  readonly head: unknown
  /** Other views of the same. */
  readonly views?: ReactNode
  /** What stands where nothing changed. */
  readonly same?: ReactNode
}

/** What changed between two payloads: prompts message by message, long texts line by line, everything else by its place. */
export function DataDiff({ base, head, views, same = 'Nothing changed.' }: DataDiffProps) {
  const { conversations, texts, fields, summary, added, removed } = useMemo(
    () => dataChanges(base, head),
    [base, head],
  )
  const isSame = summary === ''
  return (
    <DiffFrame
      views={views}
      summary={
        isSame ? (
          'No change'
        ) : (
          <>
            {summary}
            {added + removed > 0 && <LineCounts added={added} removed={removed} />}
          </>
        )
      }
    >
      {isSame && <div className={styles.same}>{same}</div>}
      {conversations.map(({ place, messages }) => (
        <div key={place}>
          <h2 className={styles.heading}>
            Messages <code dir="auto">{visible(place)}</code>
          </h2>
          <MessageDiffs messages={messages} />
        </div>
      ))}
      {texts.map(({ place, lines }) => (
        <div key={place}>
          <h2 className={styles.heading}>
            Text <code dir="auto">{visible(place)}</code>
          </h2>
          <div className={styles.framed}>
            <LineTable label={place} diff={lines} prose />
          </div>
        </div>
      ))}
      {fields.length > 0 && (
        <div>
          <h2 className={styles.heading}>Values</h2>
          <FieldChanges label="Values that changed" fields={fields} />
        </div>
      )}
    </DiffFrame>
  )
}

/** `+12 −3 lines` */
export function LineCounts({ added, removed }: { readonly added: number; readonly removed: number }) {
  return (
    <span className={styles.counts}>
      <span className={styles.plus}>+{added.toLocaleString()}</span>{' '}
      <span className={styles.minus}>−{removed.toLocaleString()}</span> lines
    </span>
  )
}
