import { useNavigate } from '@tanstack/react-router'
import { ArtifactPicker } from '../../parts/artifact-picker/artifact-picker.tsx'
import { places } from '../../shell/places.ts'
import styles from './evaluations.module.css'

/** Which runs are listed; what is chosen stands in the address. */
export function EvaluationFilters({
  application,
  state,
}: {
  readonly application: string
  readonly state: string | undefined
}) {
  const navigate = useNavigate()
  return (
    <div className={styles.filters}>
      <ArtifactPicker
        label="Of the prompt"
        family="application"
        placeholder="any"
        value={application}
        onChange={(slug) =>
          void navigate({ to: places.evaluations(), search: { state, application: slug } as never })
        }
      />
    </div>
  )
}
