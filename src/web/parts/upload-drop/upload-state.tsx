import { Link } from '@tanstack/react-router'
import { Problem, Unreachable } from '../../api/call.ts'
import type { UploadRoute, UploadState } from '../../api/upload.ts'
import { Button } from '../button/button.tsx'
import { Failure, Progress } from '../states/states.tsx'
import { shownSize } from './choose-file.ts'
import styles from './upload-drop.module.css'

export interface UploadShownProps {
  readonly state: UploadState<UploadRoute>
  /** Where it shows whether an upload arrived whose answer was lost. */
  readonly arrived: {
    readonly to: string
    readonly search?: Readonly<Record<string, string>>
    readonly label: string
  }
  readonly retry: () => void
}

/** How far an upload is, or why it was refused: by line and column, as the server says. */
export function UploadShown({ state, arrived, retry }: UploadShownProps) {
  if (state.at === 'sending') {
    const { sent, total } = state
    const isSent = sent >= total
    return (
      <div className={styles.progress} role="status">
        {isSent ? (
          <Progress label="All is sent; the server reads the rows" done={0} unit={`of ${shownSize(total)}`} />
        ) : (
          <Progress
            label="Sending"
            done={Math.round(sent / 1000)}
            total={Math.round(total / 1000)}
            unit="KB"
          />
        )}
      </div>
    )
  }
  if (state.at !== 'failed') return null
  const { error, isSent } = state
  if (error instanceof Unreachable && isSent)
    return (
      <div role="alert" className={styles.lost}>
        <p>
          The whole file was sent, but the server’s answer did not come back: whether it is stored is not
          known. Trying again is safe, since the server stores the same upload once.{' '}
          <Link to={arrived.to} search={arrived.search ?? {}} target="_blank" title="In another tab">
            {arrived.label}
          </Link>
        </p>
        <Button onClick={retry}>Try again</Button>
      </div>
    )
  // What the server refused is refused again until the file is another.
  const isFinal = error instanceof Problem && error.status < 500 && error.status !== 429
  return (
    <>
      <Failure error={error} {...(isFinal ? {} : { retry })} />
      {error instanceof Problem && error.errors.length > 1 && (
        <ul className={styles.errors}>
          {error.errors.slice(0, 50).map(({ loc, msg }, at) => (
            <li key={at}>
              <code dir="auto">{loc.join('.')}</code> {msg}
            </li>
          ))}
        </ul>
      )}
      <p className={styles.muted}>Nothing of the file was stored.</p>
    </>
  )
}
