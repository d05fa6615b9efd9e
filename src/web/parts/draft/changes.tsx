import { useMemo } from 'react'
import { DataDiff } from '../diff/data-diff.tsx'
import { TextDiff } from '../diff/lines.tsx'
import { changeOf } from '../json-text/json-text.ts'
import { prettyJson } from '../json/json-view.tsx'

export interface ChangesProps {
  /** The `data` of the base and of the draft, as JSON text. */
  readonly base: string
  readonly text: string
}

/** The changes of a draft, shown like those between revisions. */
export function Changes({ base, text }: ChangesProps) {
  const before = useMemo(() => stored(base), [base])
  const after = useMemo(() => stored(text), [text])
  const isSame = useMemo(() => changeOf(base, text) === undefined, [base, text])
  if (isSame) return <p className="muted-small">No changes.</p>
  return <DataDiff base={before} head={after} same={<Unread base={base} text={text} />} />
}

/** The stored data: `url` is added by the server when it is read. */
function stored(data: string): unknown {
  const { url, ...rest } = JSON.parse(data) as Readonly<Record<string, unknown>>
  return rest
}

/** Differences that values do not show: the order of keys, and digits that a browser drops. */
function Unread({ base, text }: ChangesProps) {
  return (
    <>
      <p>The values are equal, but written differently.</p>
      <TextDiff label="What changed in the JSON" base={prettyJson(base)} head={prettyJson(text)} />
    </>
  )
}
