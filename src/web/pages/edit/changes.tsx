import { useMemo } from 'react'
import { DataDiff } from '../../parts/diff/data-diff.tsx'
import { TextDiff } from '../../parts/diff/lines.tsx'
import styles from './edit.module.css'
import { changeOf } from '../../parts/json-text/json-text.ts'
import { prettyJson } from '../../parts/json/json-view.tsx'

export interface ChangesProps {
  /** The `data` of the base and of the draft, as JSON text. */
  readonly base: string
  readonly text: string
}

/** What a draft changes of its base, as it is seen between revisions. */
export function Changes({ base, text }: ChangesProps) {
  const before = useMemo(() => stored(base), [base])
  const after = useMemo(() => stored(text), [text])
  const isSame = useMemo(() => changeOf(base, text) === undefined, [base, text])
  if (isSame) return <p className={styles.note}>No changes.</p>
  return <DataDiff base={before} head={after} same={<Unread base={base} text={text} />} />
}

/** What a revision stores: its address is made when it is read. */
function stored(data: string): unknown {
  const { url, ...rest } = JSON.parse(data) as Readonly<Record<string, unknown>>
  return rest
}

/** What values do not show: the order of keys, digits that a browser does not keep. */
function Unread({ base, text }: ChangesProps) {
  return (
    <>
      <p>The values are equal, but written differently.</p>
      <TextDiff label="What changed in the JSON" base={prettyJson(base)} head={prettyJson(text)} />
    </>
  )
}
