import { LinkTabs } from '../../parts/tabs/link-tabs.tsx'
import { places } from '../../shell/places.ts'
import type { InputField } from './inputs.ts'
import { InputsForm, JsonInputs } from './inputs-form.tsx'
import type { RunFailure } from './use-run.ts'
import styles from './run.module.css'

/** What of a run is in its address. */
export interface RunSearch {
  readonly variant?: string
  readonly version?: string
  readonly testset?: string
  readonly row?: string
  readonly trace?: string
  readonly inputs?: string
}

export interface InputsSectionProps {
  readonly slug: string
  readonly search: RunSearch
  readonly fields: readonly InputField[]
  readonly inputs: string
  readonly onInputs: (inputs: string) => void
  /** Of an evaluator: the outputs that it judges. */
  readonly judged: string | undefined
  readonly onJudged: (outputs: string) => void
  readonly onProblem: (field: string, problem: string | undefined) => void
  /** Why the last run of these very inputs failed. */
  readonly refusal: RunFailure | undefined
}

/** What a run is given: inputs as fields or as JSON, and for an evaluator what it judges. */
export function InputsSection(props: InputsSectionProps) {
  const { slug, search, fields, inputs, onInputs, judged, onJudged, onProblem, refusal } = props
  const asJson = search.inputs === 'json'
  const to = places.run(slug)
  return (
    <section aria-label="Inputs" className={styles.inputs}>
      <div className={styles.head}>
        <h2>Inputs</h2>
        {fields.length > 0 && (
          <LinkTabs
            label="How inputs are typed"
            tabs={[
              { label: 'Fields', to, search: { ...search, inputs: undefined }, isHere: !asJson },
              { label: 'JSON', to, search: { ...search, inputs: 'json' }, isHere: asJson },
            ]}
          />
        )}
      </div>
      <InputsForm
        fields={fields}
        inputs={inputs}
        onChange={onInputs}
        asJson={asJson}
        onProblem={onProblem}
        refusal={refusal}
      />
      {judged !== undefined && (
        <>
          <h2>Outputs to judge</h2>
          <JsonInputs label="Outputs as JSON" value={judged} onChange={onJudged} onProblem={onProblem} />
        </>
      )}
    </section>
  )
}
