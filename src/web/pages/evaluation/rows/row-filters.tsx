import type { Evaluation } from '../../../parts/evaluation/evaluation-state.tsx'
import { ChoiceField } from '../../../parts/fields/choice-field.tsx'
import { Toggles } from '../../../parts/toggles/toggles.tsx'
import type { RowsShown } from './use-rows.ts'
import styles from './rows.module.css'

export interface RowFiltersProps {
  readonly run: Evaluation
  readonly shown: RowsShown
  readonly show: (shown: RowsShown) => void
}

const CHOICES = [
  { value: undefined, label: 'All rows' },
  { value: 'failed', label: 'Failed' },
  { value: 'error', label: 'Errors' },
  { value: 'passed', label: 'Passed' },
] as const

/** Which rows are shown: by how they ended, and by whose verdict. */
export function RowFilters({ run, shown, show }: RowFiltersProps) {
  return (
    <div className={styles.filters}>
      <Toggles
        label="Rows shown"
        choices={CHOICES}
        value={shown.outcome}
        onChange={(outcome) => show({ ...shown, outcome })}
      />
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
