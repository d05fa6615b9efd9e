import { useNavigate } from '@tanstack/react-router'
import { Play, Square } from 'lucide-react'
import { useMemo, useState } from 'react'
import { Button } from '../../parts/button/button.tsx'
import { useProblems } from '../../parts/fields/fields.tsx'
import { completeInputs, continuedInputs, inputFields, takesMessages } from '../../parts/run/inputs.ts'
import { InputsForm } from '../../parts/run/inputs-form.tsx'
import { textAt } from '../../parts/json-text/json-text.ts'
import { Output } from '../../parts/run/output.tsx'
import { RecentRuns, rememberRun } from '../../parts/run/recent-runs.tsx'
import { RowSource, useRows } from '../../parts/run/row-source.tsx'
import { useInputs, useSource } from '../../parts/run/use-inputs.ts'
import { useRuns } from '../../parts/run/use-runs.ts'
import { useCommands } from '../../shell/commands.tsx'
import { places, useAddress } from '../../shell/places.ts'
import { useRefusal } from '../../shell/session.tsx'
import styles from './edit.module.css'

export interface TryPaneProps {
  readonly slug: string
  readonly variant: string
  /** Whether nothing was saved of it yet. */
  readonly isUnmade: boolean
  /** The draft's `data` as JSON text. */
  readonly text: string
  /** The same a moment later: the fields follow it, so that typing stays quick. */
  readonly shown: string
  /** Whether it evaluates outputs. */
  readonly judges: boolean
  /** Why the draft cannot be sent as it was typed. */
  readonly broken: string | undefined
  readonly isDirty: boolean
}

const DRAFT = 'draft'

/** Runs the draft as it stands, on inputs that stay. Nothing is stored but a trace. */
export function TryPane({ slug, variant, isUnmade, text, shown, judges, broken, isDirty }: TryPaneProps) {
  const navigate = useNavigate()
  const search = useAddress()
  const { testset } = search
  const row = Math.max(1, Math.trunc(Number(search['row'] ?? 1)) || 1)
  const fields = useMemo(() => inputFields(shown), [shown])
  const inputs = useInputs(slug)
  const rows = useRows(testset, row, 1)
  const problems = useProblems()
  useSource(rows.rows[0], inputs, problems.clear)
  const [ran, setRan] = useState<string>()
  const title = isDirty ? `draft of ${variant}` : variant
  const { states, isRunning, start, stop, show } = useRuns(({ request }, outcome) =>
    rememberRun(slug, { title, inputs: request.inputs, names: fields.map(({ name }) => name), outcome }),
  )
  const state = states.get(DRAFT)
  const lacking = useRefusal('invoke')
  const refusal = broken ?? problems.first

  function run(given: string): void {
    setRan(given)
    void start([
      {
        key: DRAFT,
        request: {
          executed: { slug: isUnmade ? '' : slug, variant, data: text },
          inputs: completeInputs(given, inputFields(text)),
          outputs: judges ? inputs.judged : undefined,
          testcaseId: given === inputs.inputs ? inputs.testcaseId : undefined,
        },
      },
    ])
  }
  useCommands([
    isRunning
      ? { id: 'run', title: 'Stop the run', keys: 'mod+enter', run: stop }
      : {
          id: 'run',
          title: 'Run the draft',
          keys: 'mod+enter',
          refusal: lacking ?? refusal,
          run: () => run(inputs.inputs),
        },
  ])
  const isChat = takesMessages(shown)
  const said = judges && state?.outputs !== undefined ? textAt(state.outputs, ['success']) : undefined
  const verdict = said === 'true' ? '✓ passed' : said === 'false' ? '✗ failed' : undefined
  return (
    <section aria-label="Try" className={styles.try}>
      <div className={styles.tryHead}>
        <h2>Try {isDirty ? 'the draft' : variant}</h2>
        {isRunning ? (
          <Button aria-keyshortcuts="Control+Enter" onClick={stop}>
            <Square size={14} aria-hidden /> Stop
          </Button>
        ) : (
          <Button
            needs="invoke"
            refusal={refusal}
            aria-keyshortcuts="Control+Enter"
            title="Ctrl+Enter"
            onClick={() => run(inputs.inputs)}
          >
            <Play size={14} aria-hidden /> Run
          </Button>
        )}
      </div>
      <RowSource
        testset={testset}
        row={row}
        total={rows.total}
        error={rows.error}
        retry={rows.refetch}
        pick={(slugOf, number) =>
          void navigate({
            to: places.edit(slug, variant),
            search: { ...search, testset: slugOf, row: slugOf && String(number) } as never,
            replace: true,
            resetScroll: false,
          })
        }
      />
      {inputs.isRead && (
        <InputsForm
          fields={fields}
          state={inputs}
          judges={judges}
          onProblem={problems.note}
          refusal={ran === inputs.inputs ? state?.error : undefined}
        />
      )}
      <h2>{judges ? 'Result' : 'Output'}</h2>
      {verdict !== undefined && <b>{verdict}</b>}
      <p className={styles.note} hidden={state !== undefined}>
        {judges ? 'The result' : 'The output'} will appear here. Nothing is saved by trying.
      </p>
      <Output
        state={state}
        onNext={
          isChat && !isRunning
            ? (reply, next) => {
                const continued = continuedInputs(inputs.inputs, reply, next)
                inputs.fill({ inputs: continued })
                run(continued)
              }
            : undefined
        }
      />
      <RecentRuns
        slug={slug}
        testset={testset}
        again={(recent) => {
          inputs.fill({ inputs: recent.inputs })
          problems.clear()
        }}
        show={(recent) => {
          setRan(recent.inputs)
          show(DRAFT, recent.outcome)
        }}
      />
    </section>
  )
}
