import { Link } from '@tanstack/react-router'
import { useState, useSyncExternalStore } from 'react'
import { useWrite } from '../../api/use-route.ts'
import { ArtifactPicker } from '../artifact-picker/artifact-picker.tsx'
import { Button } from '../button/button.tsx'
import { FormDialog } from '../dialog/dialog.tsx'
import { TextField } from '../fields/fields.tsx'
import { keysAt, withTextAt } from '../json-text/json-text.ts'
import { prettyJson } from '../json/json-view.tsx'
import { Ago, duration } from '../time/time.tsx'
import { excerptOf, Fold } from '../text/text.tsx'
import { places } from '../../shell/places.ts'
import { shownText } from './output.tsx'
import { useRows } from './row-source.tsx'
import styles from './run.module.css'
import type { RunState } from './use-runs.ts'

/** An earlier run of this window. */
export interface RecentRun {
  readonly id: number
  readonly at: string
  /** What ran: `main v3`, `draft of main`. */
  readonly title: string
  readonly inputs: string
  /** The inputs that what ran takes; the others came with a row. */
  readonly names: readonly string[]
  readonly outcome: RunState
}

/** Runs are kept per artifact until the window is closed. */
const MAX_RUNS_KEPT = 20

const runs = new Map<string, readonly RecentRun[]>()
const listeners = new Set<() => void>()
const NONE: readonly RecentRun[] = []
let made = 0

/** Remembers a finished run. */
export function rememberRun(slug: string, run: Omit<RecentRun, 'id' | 'at'>): void {
  made += 1
  const at = new Date().toISOString()
  runs.set(slug, [{ id: made, at, ...run }, ...(runs.get(slug) ?? NONE)].slice(0, MAX_RUNS_KEPT))
  for (const changed of listeners) changed()
}

/** The runs of an artifact in this window, the newest first. */
function useRecentRuns(slug: string): readonly RecentRun[] {
  return useSyncExternalStore(
    (changed) => {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    () => runs.get(slug) ?? NONE,
  )
}

export interface RecentRunsProps {
  readonly slug: string
  /** The testset that the inputs come from, if they do. */
  readonly testset: string | undefined
  /** Takes the inputs of a run again. */
  readonly again: (run: RecentRun) => void
  /** Shows the output of a run; left out where several outputs are shown. */
  readonly show?: (run: RecentRun) => void
}

/** The last twenty runs of this window. */
export function RecentRuns({ slug, testset, again, show }: RecentRunsProps) {
  const recent = useRecentRuns(slug)
  const [kept, setKept] = useState<KeptRun>()
  if (recent.length === 0) return null
  return (
    <section aria-label="Runs in this window" className={styles.recent}>
      <h2>Runs in this window</h2>
      <KeepRow run={kept} testset={testset} close={() => setKept(undefined)} />
      <ul>
        {recent.map((run) => (
          <li key={run.id}>
            <p>
              <b dir="auto">{run.title}</b>
              <span data-status={run.outcome.status}>{run.outcome.status}</span>
              {run.outcome.ms !== undefined && <span>{duration(run.outcome.ms)}</span>}
              <Ago date={run.at} inSentence />
            </p>
            <p className={styles.clip} dir="auto">
              {excerptOf(JSON.parse(run.inputs))}
            </p>
            <p>
              {show && (
                <Button kind="quiet" onClick={() => show(run)}>
                  Show
                </Button>
              )}
              <Button kind="quiet" onClick={() => again(run)}>
                These inputs again
              </Button>
              <Button
                kind="quiet"
                refusal={run.outcome.outputs === undefined ? 'This run has no output.' : undefined}
                onClick={() => setKept({ ...run, outputs: run.outcome.outputs ?? 'null' })}
              >
                Keep as row…
              </Button>
            </p>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** A run that becomes a row of a testset. */
export interface KeptRun extends Pick<RecentRun, 'inputs' | 'names'> {
  /** As JSON text. */
  readonly outputs: string
}

interface KeepRowProps {
  /** Undefined while there is nothing to keep. */
  readonly run: KeptRun | undefined
  /** The testset that is offered first. */
  readonly testset: string | undefined
  readonly close: () => void
}

/** Asks which testset a run is kept in, and says afterwards where it is. */
export function KeepRow({ run, testset, close }: KeepRowProps) {
  const [added, setAdded] = useState<{ readonly to: string; readonly version: number }>()
  return (
    <>
      <p role="status">
        {added && (
          <>
            Row added: <Link to={places.testset(added.to)}>{added.to}</Link> is now at v{added.version}.
          </>
        )}
      </p>
      {run && (
        <KeepRowDialog
          {...run}
          testset={testset}
          onKept={(to, version) => setAdded({ to, version })}
          close={close}
        />
      )}
    </>
  )
}

interface KeepRowDialogProps extends KeptRun {
  readonly testset: string | undefined
  /** Called with the testset and its new version. */
  readonly onKept: (testset: string, version: number) => void
  readonly close: () => void
}

/** The name of the column for expected answers in a testset without one. */
const NEW_COLUMN = 'expected_answer'

/** Adds a run to a testset: its inputs, and its output as the expected answer. */
function KeepRowDialog({ inputs, names, outputs, testset: offered, onKept, close }: KeepRowDialogProps) {
  const [testset, setTestset] = useState(offered ?? '')
  const [typed, setTyped] = useState<string>()
  const first = useRows(testset === '' ? undefined : testset, 1, 1)
  const { mutateAsync } = useWrite('POST /testsets/revisions/commit')
  const columns = keysAt(first.rows[0]?.inputs ?? '{}', [])
  const given = names.length > 0 ? names : keysAt(inputs, [])
  const others = columns.filter((name) => !given.includes(name))
  const column = typed ?? others.find((name) => EXPECTED.test(name)) ?? others[0] ?? NEW_COLUMN
  const row = withTextAt(inputs, [column], JSON.stringify(shownText(outputs)))
  const refusal =
    testset === '' ? 'Choose a testset.' : column.trim() === '' ? 'The column needs a name.' : undefined
  async function keep(): Promise<void> {
    const of = `"testset_ref":${JSON.stringify({ slug: testset })}`
    const text = `{"testset_revision_commit":{${of},"delta":{"rows":{"add":[{"data":${row}}]}}}}`
    const answer = await mutateAsync({ text })
    onKept(testset, Number(answer.testset_revision.version))
  }
  return (
    <FormDialog
      title="Keep as row"
      action="Add the row"
      needs="write"
      refusal={refusal}
      submit={keep}
      close={close}
    >
      <div className={styles.keep}>
        <ArtifactPicker
          label="Testset"
          family="testset"
          value={testset}
          onChange={(slug) => {
            setTestset(slug)
            setTyped(undefined)
          }}
        />
        <TextField
          label="Column for the output"
          hint={
            columns.length > 0 && !columns.includes(column)
              ? 'The testset gets this column with the row.'
              : 'The output becomes the expected answer of this row.'
          }
          value={column}
          onChange={setTyped}
        />
      </div>
      <h3>The new row</h3>
      <div className={`card ${styles.json}`}>
        <Fold text={prettyJson(row)} />
      </div>
    </FormDialog>
  )
}

/** How columns of expected answers are usually called. */
const EXPECTED = /answer|expected|output|target|reference/i
