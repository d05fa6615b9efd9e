import type { Evaluation } from '../../../parts/evaluation/evaluation-state.tsx'
import { ChoiceField } from '../../../parts/fields/choice-field.tsx'
import type { RowsShown } from './use-rows.ts'
import styles from './rows.module.css'

export interface RowFiltersProps {
  readonly run: Evaluation
  readonly shown: RowsShown
  readonly show: (shown: RowsShown) => void
}

const CHOICES = [
  { outcome: undefined, label: 'All rows' },
  { outcome: 'failed', label: 'Failed' },
  { outcome: 'error', label: 'Errors' },
  { outcome: 'passed', label: 'Passed' },
] as const

/** Which rows are shown: by how they ended, and by whose verdict. */
export function RowFilters({ run, shown, show }: RowFiltersProps) {
  return (
    <div className={styles.filters}>
      <div role="group" aria-label="Rows shown" className={styles.choices}>
        {CHOICES.map(({ outcome, label }) => (
          <button
            key={label}
            type="button"
            aria-pressed={shown.outcome === outcome}
            onClick={() => show({ ...shown, outcome })}
          >
            {label}
          </button>
        ))}
      </div>
      {run.evaluators.length > 1 && (
        <ChoiceField
          label="By the verdict of"
          value={shown.evaluator ?? ''}
          choices={[
            { value: '', label: 'any evaluator' },
            ...run.evaluators.map(({ name }) => ({ value: name, label: name })),
          ]}
          onChange={(name) => show({ ...shown, evaluator: name === '' ? undefined : name })}
        />
      )}
    </div>
  )
}
