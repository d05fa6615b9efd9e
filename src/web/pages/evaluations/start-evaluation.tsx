import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useWrite } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import { Modal } from '../../parts/dialog/modal.tsx'
import { TextField } from '../../parts/fields/text-field.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { places } from '../../shell/places.ts'
import { EvaluatorsChoice } from './evaluators-choice.tsx'
import { PinnedChoice } from './pinned-choice.tsx'
import { type Pinned, pinnedReferences } from './pinned.ts'
import styles from './evaluations.module.css'

export interface StartEvaluationProps {
  /** What the address says is chosen already: `prompt`, `variant`, `version`, `testset`, `evaluators`. */
  readonly search: Readonly<Record<string, string | undefined>>
  readonly close: () => void
}

/** So many rows at once the interface takes. */
const MOST_AT_ONCE = 64

/** What is to be run, with what, judged by whom; the run's page opens as soon as it has begun. */
export function StartEvaluation({ search, close }: StartEvaluationProps) {
  const { prompt: named = '', variant = '', version = '', testset = '', evaluators = '' } = search
  const [prompt, setPrompt] = useState<Pinned>({ slug: named, variant, version })
  const [rows, setRows] = useState<Pinned>({ slug: testset, variant: '', version: '' })
  const [judges, setJudges] = useState<readonly string[]>(evaluators.split(',').filter(Boolean))
  const [concurrency, setConcurrency] = useState('4')
  const { mutateAsync, error, isPending } = useWrite('POST /evaluations/run')
  const navigate = useNavigate()
  const atOnce = Number(concurrency)
  const isCount = Number.isInteger(atOnce) && atOnce >= 1 && atOnce <= MOST_AT_ONCE
  const refusal =
    prompt.slug === ''
      ? 'Choose a prompt first.'
      : rows.slug === ''
        ? 'Choose a testset first.'
        : isCount
          ? undefined
          : 'Rows at once is not a number that can be used.'

  async function start(): Promise<void> {
    const { evaluation } = await mutateAsync({
      body: {
        ...pinnedReferences('application', prompt),
        ...pinnedReferences('testset', rows),
        evaluator_refs: judges.map((slug) => ({ slug })),
        concurrency: atOnce,
        wait: false,
      },
    })
    await navigate({ to: places.evaluation(evaluation.id) })
  }

  return (
    <Modal
      open
      close={close}
      title="Start an evaluation"
      sheet
      actions={
        <Button
          kind="primary"
          needs="invoke"
          refusal={refusal}
          busy={isPending}
          onClick={() => void start().catch(() => undefined)}
        >
          {isPending ? 'Starting …' : 'Start the evaluation'}
        </Button>
      }
    >
      <div className={styles.form}>
        {error !== null && <Failure error={error} />}
        <PinnedChoice
          legend="What is run"
          label="Prompt"
          family="application"
          value={prompt}
          onChange={setPrompt}
          autoFocus
        />
        <PinnedChoice
          legend="On which rows"
          label="Testset"
          family="testset"
          value={rows}
          onChange={setRows}
        />
        <EvaluatorsChoice value={judges} onChange={setJudges} />
        <fieldset>
          <legend>How fast</legend>
          <TextField
            label="Rows at once"
            type="number"
            min={1}
            max={MOST_AT_ONCE}
            value={concurrency}
            onChange={setConcurrency}
            hint="How many rows are run at the same time. A provider that limits requests wants a small number."
            problem={isCount ? undefined : `A whole number from 1 to ${MOST_AT_ONCE}.`}
          />
        </fieldset>
      </div>
    </Modal>
  )
}
