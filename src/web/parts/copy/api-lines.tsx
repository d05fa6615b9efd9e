import { Copyable } from './copyable.tsx'
import styles from './copyable.module.css'

export interface ApiLinesProps {
  /** Commands that do or ask the same as the page, each with what it does. */
  readonly lines: readonly { readonly label: string; readonly text: string }[]
}

/** The same in a terminal, folded until somebody wants it. */
export function ApiLines({ lines }: ApiLinesProps) {
  return (
    <details className={styles.api}>
      <summary>API</summary>
      {lines.map(({ label, text }) => (
        <div key={label}>
          <p className="muted-small">{label}</p>
          <Copyable label={label} text={text} />
        </div>
      ))}
    </details>
  )
}

/** A `curl` command with the key from a shell variable. */
export function curlOf(path: string, body?: object): string {
  const sent =
    body === undefined ? '' : ` -H 'Content-Type: application/json' \\\n  -d ${quoted(JSON.stringify(body))}`
  return `curl "${location.origin}${path}" \\\n  -H "Authorization: ApiKey $BRANCHPOINT_KEY"${sent}`
}

/** The command that deploys a version to an environment. */
export function deployCommand(environment: string): string {
  return curlOf('/workflows/revisions/deploy', {
    workflow_revision_ref: { slug: 'my-prompt', version: 1 },
    environment_ref: { slug: environment },
  })
}

/** A text as one word of a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** `git clone` with the key from a shell variable, as in the guide. */
export function cloneCommand({ git_url: url }: { readonly git_url: string }): string {
  return `git clone "${url.replace('://', '://me:$BRANCHPOINT_KEY@')}"`
}
