import { X } from 'lucide-react'
import { ArtifactPicker } from '../../parts/artifact-picker/artifact-picker.tsx'
import styles from './evaluations.module.css'

export interface EvaluatorsChoiceProps {
  readonly value: readonly string[]
  readonly onChange: (value: readonly string[]) => void
}

/** The evaluators that judge each output, as many as are wanted; each takes part in its newest version. */
export function EvaluatorsChoice({ value, onChange }: EvaluatorsChoiceProps) {
  return (
    <fieldset>
      <legend>Judged by</legend>
      <ArtifactPicker
        label="Add an evaluator"
        family="evaluator"
        value=""
        placeholder="Search by name"
        onChange={(slug) => slug !== '' && !value.includes(slug) && onChange([...value, slug])}
      />
      <div className={styles.picked}>
        {value.map((slug) => (
          <button
            key={slug}
            type="button"
            aria-label={`Leave out ${slug}`}
            onClick={() => onChange(value.filter((it) => it !== slug))}
          >
            {slug}
            <X size={14} aria-hidden />
          </button>
        ))}
        {value.length === 0 && (
          <p className={styles.muted}>Without one, outputs are kept and nothing is judged.</p>
        )}
      </div>
    </fieldset>
  )
}
