import type { FieldProblem } from '../../api/problem.ts'
import styles from './edit.module.css'
import { namedInputs, promptInputs } from './draft/editing.ts'

/** What is known of a draft: the variables that it has, and what the server says is wrong with it. */
export function DraftAside({
  text,
  problems,
}: {
  readonly text: string
  readonly problems: readonly FieldProblem[]
}) {
  const found = promptInputs(text)
  const named = namedInputs(text)
  return (
    <aside className={styles.aside} aria-label="About the draft">
      <section>
        <h2>Variables</h2>
        {found.length === 0 ? (
          <p className={styles.note}>None is found in the messages.</p>
        ) : (
          <ul className={styles.variables}>
            {found.map((name) => (
              <li key={name}>
                <code>{name}</code>
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
        {problems.length === 0 ? (
          <p className={styles.note}>Nothing is wrong, by the schema and by the server.</p>
        ) : (
          <ul className={styles.problems}>
            {problems.map(({ loc, msg }, at) => (
              <li key={at}>
                <code>{loc.join('.')}</code>: {msg}
              </li>
            ))}
          </ul>
        )}
      </section>
    </aside>
  )
}
