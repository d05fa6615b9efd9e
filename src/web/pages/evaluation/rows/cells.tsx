import { clipped, textOf } from '../../../parts/text/text.tsx'
import { outputOf, type RowResult } from '../outcome.ts'
import styles from './rows.module.css'

export interface InputsCellProps {
  /** Undefined where the row is gone. */
  readonly data: Readonly<Record<string, unknown>> | undefined
  readonly dedupId: string | undefined
  /** The column that is shown elsewhere. */
  readonly without: string | undefined
}

/** More columns than this are not seen in two lines. */
const MOST_INPUTS = 12

/** A row's columns in a few words; a press anywhere on the row opens it. */
export function InputsCell({ data, dedupId = '', without }: InputsCellProps) {
  const inputs = Object.entries(data ?? {}).filter(([name]) => name !== without)
  return (
    <span role="cell" className={styles.clamped} dir="auto">
      <button type="button" className={styles.opener} aria-label={`Open the row ${dedupId}`} />
      {data === undefined && <i>The row is gone from its testset.</i>}
      {inputs.slice(0, MOST_INPUTS).map(([name, value]) => (
        <span key={name}>
          <bdi className={styles.key}>{clipped(name)}</bdi> <bdi>{clipped(textOf(value))}</bdi>{' '}
        </span>
      ))}
    </span>
  )
}

/** What the prompt answered, or why it did not. */
export function OutputCell({ result }: { readonly result: RowResult | undefined }) {
  if (!result) return <span role="cell">–</span>
  const hasFailed = 'error' in result.application
  return (
    <span role="cell" className={hasFailed ? styles.error : styles.clamped} dir="auto">
      {hasFailed && <b>! error </b>}
      {clipped(outputOf(result))}
    </span>
  )
}
