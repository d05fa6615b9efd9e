import styles from './edit.module.css'
import { namedInputs, promptInputs } from './draft/editing.ts'
import type { Inspection } from './draft/use-inspection.ts'

/** What is known of a draft: the variables that it has, and what the server says is wrong with it. */
export function DraftAside({
  text,
  inspection: { problems, checked, isRefused },
  broken,
}: {
  readonly text: string
  readonly inspection: Inspection
  /** Why what is typed cannot be saved, and so was not looked at. */
  readonly broken: string | undefined
}) {
  const found = promptInputs(text)
  const named = namedInputs(text)
  return (
    <aside className={styles.aside} aria-label="About the draft">
      <section>
        <h2>Variables</h2>
        {found.length === 0 ? (
          <p className={styles.note}>No variables.</p>
        ) : (
          <ul className={styles.variables}>
            {found.map((name) => (
              <li key={name}>
                <code dir="auto">{name}</code>
                {named.length > 0 && !named.includes(name) && (
                  <span className={styles.note}>is not among the inputs of the schema</span>
                )}
              </li>
            ))}
          </ul>
        )}
      </section>
      <section role="status">
        <h2>Checks</h2>
        {broken !== undefined && <p>{broken}</p>}
        {problems.length === 0 ? (
          broken === undefined && <p className={styles.note}>{WORDS[checked]}</p>
        ) : (
          <ul className={styles.problems}>
            {problems.map(({ loc, msg }, at) => (
              <li key={at}>
                <strong>{isRefused ? 'Error' : 'Warning'}</strong>
                {loc.length > 0 && <code>{loc.join('.')}: </code>}
                {msg}
              </li>
            ))}
          </ul>
        )}
      </section>
    </aside>
  )
}

const WORDS = {
  yes: 'No problems found.',
  'not yet': 'Checking …',
  unreachable: 'The server does not answer, so the draft is not checked.',
} as const
