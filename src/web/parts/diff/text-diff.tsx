import { useMemo } from 'react'
import styles from './diff.module.css'
import { lineDiff } from './model/line-diff.ts'
import { LineTable } from './lines/line-table.tsx'

export interface TextDiffProps {
  /** What the texts are, for whoever listens. */
  readonly label: string
  readonly base: string
  readonly head: string
  /** Set as prompts are, not as code is. */
  readonly prose?: boolean
}

/** What changed between two texts: side by side or unified as is chosen, words marked inside lines that changed, the rest folded. */
export function TextDiff({ label, base, head, prose = false }: TextDiffProps) {
  const diff = useMemo(() => lineDiff(base, head), [base, head])
  return (
    <div className={styles.framed} role="group" aria-label={label}>
      {diff.changes === 0 ? (
        <p className={styles.same}>Nothing changed.</p>
      ) : (
        <LineTable label={label} diff={diff} prose={prose} />
      )}
    </div>
  )
}
