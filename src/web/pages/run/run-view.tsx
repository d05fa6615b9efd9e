import { Link } from '@tanstack/react-router'
import { Play, Square } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { Button } from '../../parts/button/button.tsx'
import { Page } from '../../parts/page/page.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { useProblems } from '../../parts/fields/use-problems.ts'
import { useCommands } from '../../shell/commands.tsx'
import { places } from '../../shell/places.ts'
import { useRefusal } from '../../shell/session.tsx'
import { emptyInputs, inputFields } from './inputs.ts'
import { InputsSection, type RunSearch } from './inputs-section.tsx'
import { Output } from './output.tsx'
import { rememberRun } from './recent-runs.ts'
import { RecentRuns } from './recent-list.tsx'
import { RevisionPicker } from './revision-picker.tsx'
import { type PickedRow, RowSource } from './row-source.tsx'
import styles from './run.module.css'
import { useRun } from './use-run.ts'
import { useTraceInputs } from './use-trace-inputs.ts'

/** A revision that can be run. */
export interface Runnable {
  readonly revisionId: string
  readonly version: number
  readonly variant: string
  readonly variantId: string
  readonly isEvaluator: boolean
  /** Its `data` as JSON text. */
  readonly data: string
}

export interface RunViewProps {
  readonly slug: string
  readonly search: RunSearch
  readonly runnable: Runnable
  readonly go: (change: { readonly [K in keyof RunSearch]?: string | undefined }) => void
  readonly news: ReactNode
}

/** Inputs left, what comes out right. */
export function RunView({ slug, search, runnable, go, news }: RunViewProps) {
  const { revisionId, version, variant, isEvaluator, data } = runnable
  const fields = useMemo(() => inputFields(data), [data])
  const [inputs, setInputs] = useState(() => emptyInputs(fields))
  const [judged, setJudged] = useState('""')
  /** Changes where inputs come from elsewhere, so that fields begin anew. */
  const [filled, setFilled] = useState(0)
  const [row, setRow] = useState<PickedRow>()
  const problems = useProblems()
  const fill = (text: string): void => {
    setInputs(text)
    setFilled((times) => times + 1)
    problems.clear()
  }
  const trace = useTraceInputs(search.trace, (given) => {
    fill(given.inputs)
    if (given.outputs !== undefined && isEvaluator) setJudged(given.outputs)
  })
  const [ran, setRan] = useState<string>()
  const { state, run, stop, show } = useRun((outcome) =>
    rememberRun(slug, { at: new Date().toISOString(), variant, version, inputs, outcome }),
  )
  const isRunning = state?.status === 'running'
  const lacking = useRefusal('invoke')
  const start = (): void => {
    setRan(inputs)
    void run({
      revisionId,
      inputs,
      outputs: isEvaluator ? judged : undefined,
      testcaseId: row?.inputs === inputs ? row.testcaseId : undefined,
    })
  }
  useCommands([
    isRunning
      ? { id: 'run', title: 'Stop the run', keys: 'mod+enter', run: stop }
      : {
          id: 'run',
          title: `Run v${version}`,
          keys: 'mod+enter',
          refusal: lacking ?? problems.first,
          run: start,
        },
    { id: 'edit', title: `Edit ${variant}`, keys: 'e', run: () => document.getElementById(EDIT)?.click() },
  ])
  return (
    <Page
      wide
      crumbs={[
        { label: slug, to: places.artifact(slug) },
        {
          label: variant,
          to: places.version(slug, variant, search.version === undefined ? undefined : version),
        },
        { label: 'Run' },
      ]}
      actions={
        <>
          <Link to={places.edit(slug, variant)} id={EDIT} className={styles.edit}>
            Edit {variant}
          </Link>
          {isRunning ? (
            <Button kind="primary" onClick={stop}>
              <Square size={14} aria-hidden /> Stop
            </Button>
          ) : (
            <Button kind="primary" needs="invoke" refusal={problems.first} onClick={start}>
              <Play size={14} aria-hidden /> Run v{version}
            </Button>
          )}
        </>
      }
    >
      {news}
      <div className={styles.columns}>
        <div>
          <RevisionPicker
            slug={slug}
            variant={search.variant ?? variant}
            version={search.version === undefined ? undefined : Number(search.version)}
            shown={version}
            pick={(name, number) =>
              go({ variant: name, version: number === undefined ? undefined : String(number) })
            }
          />
          <RowSource
            testset={search.testset}
            row={Math.max(1, Math.trunc(Number(search.row ?? 1)) || 1)}
            pick={(testset, number) =>
              go({ testset, row: testset === undefined ? undefined : String(number), trace: undefined })
            }
            onRow={(picked) => {
              setRow(picked)
              fill(picked.inputs)
            }}
          />
          {trace.error && <Failure error={trace.error} retry={trace.refetch} />}
          <InputsSection
            key={`${filled} ${revisionId}`}
            slug={slug}
            search={search}
            fields={fields}
            inputs={inputs}
            onInputs={setInputs}
            judged={isEvaluator ? judged : undefined}
            onJudged={setJudged}
            onProblem={problems.note}
            refusal={ran === inputs ? state?.error : undefined}
          />
        </div>
        <div className={styles.outcome}>
          <h2>Output</h2>
          {state ? (
            <Output state={state} />
          ) : (
            <p className={styles.waiting}>
              What comes out of v{version} stands here, with its time, its tokens and its trace.
            </p>
          )}
          <RecentRuns
            slug={slug}
            show={(recent) => {
              fill(recent.inputs)
              show(recent.outcome)
            }}
          />
        </div>
      </div>
    </Page>
  )
}

const EDIT = 'edit-variant'
