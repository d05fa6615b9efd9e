import type { Evaluation } from '../../parts/evaluation/evaluation-state.tsx'
import { Progress } from '../../parts/states/progress.tsx'
import styles from './evaluation.module.css'

/** How far a run is that is not done. */
export function RunProgress({ run }: { readonly run: Evaluation }) {
  const { state, rows, summary } = run
  if (state === 'finished') return null
  return (
    <div className={styles.progress}>
      <Progress
        label={state === 'running' ? 'Running' : 'Interrupted'}
        done={summary.done}
        total={rows}
        unit="rows"
      />
      <p className={styles.muted}>
        {state === 'running'
          ? 'It goes on when this page is left.'
          : 'Resume it to run the rows that are left; rows that are done are not run again.'}
      </p>
    </div>
  )
}
