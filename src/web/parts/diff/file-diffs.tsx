import { parsePatch } from 'diff'
import { useMemo } from 'react'
import { LineCounts } from './data-diff.tsx'
import styles from './diff.module.css'
import {
  besideEachOther,
  type Hunk,
  type LineDiff,
  type LineRow,
  type NumberedLine,
} from './model/line-diff.ts'
import { LineTable } from './lines/line-table.tsx'
import { visible } from './model/visible.ts'

export interface FileDiffsProps {
  /** As the server compares them: each a unified diff as git shows it. */
  readonly files: readonly { readonly path: string; readonly diff: string }[]
}

/** The files of two revisions as they lie in git. */
export function FileDiffs({ files }: FileDiffsProps) {
  return files.map((file) => <FileDiff key={file.path} {...file} />)
}

function FileDiff({ path, diff }: FileDiffsProps['files'][number]) {
  const lines = useMemo(() => linesOf(diff), [diff])
  return (
    <div>
      <h2 className={styles.heading}>
        <code dir="auto">{visible(path)}</code>{' '}
        {lines && <LineCounts added={lines.added} removed={lines.removed} />}
      </h2>
      <div className={styles.framed}>
        {lines && lines.rows.length > 0 ? (
          <LineTable label={path} diff={lines} />
        ) : (
          <pre className={styles.raw}>{visible(diff)}</pre>
        )}
      </div>
    </div>
  )
}

/** The rows of a unified diff; undefined where it is none (a file that is no text). */
function linesOf(diff: string): LineDiff | undefined {
  const hunks = hunksOf(diff)
  if (!hunks) return undefined
  const rows: LineRow[] = []
  const marks = new Map<number, Hunk>()
  let [added, removed, changes] = [0, 0, 0]
  for (const { oldStart, oldLines, newStart, newLines, lines } of hunks) {
    marks.set(rows.length, {
      base: { start: oldStart, lines: oldLines },
      head: { start: newStart, lines: newLines },
    })
    let [baseAt, headAt] = [oldStart, newStart]
    let [base, head]: [NumberedLine[], NumberedLine[]] = [[], []]
    const flush = (): void => {
      if (base.length + head.length > 0) changes++
      for (const row of besideEachOther(base, head)) rows.push(row)
      ;[base, head] = [[], []]
    }
    for (const line of lines) {
      const text = line.slice(1)
      if (line.startsWith('-')) removed += base.push({ number: baseAt++, text }) > 0 ? 1 : 0
      else if (line.startsWith('+')) added += head.push({ number: headAt++, text }) > 0 ? 1 : 0
      else if (!line.startsWith('\\')) {
        flush()
        rows.push({ base: { number: baseAt++, text }, head: { number: headAt++, text }, isSame: true })
      }
    }
    flush()
  }
  return { rows, added, removed, changes, hunks: marks }
}

function hunksOf(diff: string) {
  try {
    return parsePatch(diff)[0]?.hunks
  } catch {
    return undefined
  }
}
