import { Fold } from '../../parts/text/text.tsx'
import { JsonView } from '../../parts/json/json-view.tsx'
import type { RunResult } from './outcome.ts'
import styles from './value.module.css'

/** What came of a run, whole: a text as text, everything else as JSON, a failure in its own words. */
export function Value({ of }: { readonly of: RunResult }) {
  if ('error' in of) {
    return (
      <div className={styles.error}>
        <b>! {of.error.code}</b>
        <Fold text={of.error.message} />
      </div>
    )
  }
  const { outputs } = of
  return (
    <div className={styles.value}>
      {typeof outputs === 'string' ? <Fold text={outputs} /> : <JsonView value={outputs} />}
    </div>
  )
}
