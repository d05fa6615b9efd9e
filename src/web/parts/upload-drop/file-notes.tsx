export interface FileNotesProps {
  readonly collapsed?: number | undefined
  readonly replaced?: number | undefined
  readonly renamed_columns?: readonly { readonly from: string; readonly to: string }[] | undefined
}

/** What became of a file that is not seen in its rows: rows that are one now, and names that changed. */
export function FileNotes({ collapsed = 0, replaced = 0, renamed_columns: renamed = [] }: FileNotesProps) {
  if (collapsed + replaced + renamed.length === 0) return null
  return (
    <div role="status">
      <ul>
        {collapsed > 0 && <li>{collapsed.toLocaleString()} equal rows collapsed into one each</li>}
        {replaced > 0 && (
          <li>{replaced.toLocaleString()} rows were replaced by a later row with the same ID</li>
        )}
        {renamed.map(({ from, to }) => (
          <li key={to}>
            Column <code dir="auto">{JSON.stringify(from)}</code> is called <code dir="auto">{to}</code>
          </li>
        ))}
      </ul>
    </div>
  )
}
