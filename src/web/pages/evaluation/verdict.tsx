import { shownScore } from '../../parts/evaluation/evaluation.tsx'
import type { Outcome, OutcomeKind } from './outcome.ts'
import styles from './verdict.module.css'

const SIGNS: Readonly<Record<OutcomeKind, readonly [sign: string, word: string]>> = {
  passed: ['✓', 'passed'],
  failed: ['✗', 'failed'],
  error: ['!', 'error'],
  scored: ['≈', 'scored'],
  said: ['·', 'no verdict'],
  absent: ['–', 'not run'],
}

/** What an evaluator made of a row: a sign, a word, and its score where it gave one. */
export function Verdict({ name, outcome }: { readonly name?: string; readonly outcome: Outcome }) {
  const { kind, score, message } = outcome
  const [sign, word] = SIGNS[kind]
  return (
    <span className={styles[kind]} title={message}>
      {name !== undefined && <span className={styles.name}>{name}</span>}
      <b>
        <span aria-hidden>{sign}</span> {word}
      </b>
      {score !== undefined && <span className={styles.score}>{shownScore(score)}</span>}
    </span>
  )
}
