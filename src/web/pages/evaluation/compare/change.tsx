import type { ComparedRow } from './join-rows.ts'
import styles from './compare.module.css'

const SIGNS: Readonly<Record<ComparedRow['change'], readonly [sign: string, word: string]>> = {
  better: ['▲', 'better'],
  worse: ['▼', 'worse'],
  mixed: ['◆', 'both'],
  same: ['=', 'same'],
  'not comparable': ['≠', 'not comparable'],
  'only left': ['◁', 'only left'],
  'only right': ['▷', 'only right'],
}

/** How a row ended at the right, beside the left: a sign and a word. */
export function Change({ row: { change, isOutputChanged } }: { readonly row: ComparedRow }) {
  const [sign, word] = SIGNS[change]
  return (
    <span className={styles.change} data-change={change}>
      <b>
        <span aria-hidden>{sign}</span> {word}
      </b>
      {isOutputChanged && (change === 'same' || change === 'not comparable') && (
        <span className={styles.muted}>other words</span>
      )}
    </span>
  )
}
