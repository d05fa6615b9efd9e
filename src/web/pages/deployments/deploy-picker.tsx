import { useDeferredValue, useState } from 'react'
import { useRoute } from '../../api/use-route.ts'
import { Modal } from '../../parts/dialog/modal.tsx'
import { TextField } from '../../parts/fields/text-field.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import styles from './deployments.module.css'

export interface DeployPickerProps {
  readonly choose: (slug: string) => void
  readonly close: () => void
}

const MOST = 30

/** Which prompt is to be deployed: it gets the first row of the board. */
export function DeployPicker({ choose, close }: DeployPickerProps) {
  const [words, setWords] = useState('')
  const asked = useDeferredValue(words.trim())
  const { data, error } = useRoute(
    'POST /workflows/query',
    {
      body: {
        ...(asked.length > 1 ? { workflow: { text: `${asked}*` } } : {}),
        windowing: { order: '-updated', limit: MOST },
      },
    },
    { keepPrevious: true },
  )
  return (
    <Modal open close={close} title="Choose a prompt">
      <TextField
        label="Name"
        value={words}
        onChange={setWords}
        autoFocus
        placeholder="Words of the prompt's name"
      />
      {error && <Failure error={error} />}
      <ul className={styles.picker}>
        {data?.workflows.map(({ slug, name }) => (
          <li key={slug}>
            <button type="button" onClick={() => choose(slug)}>
              <bdi>{name ?? slug}</bdi> {name !== undefined && <code>{slug}</code>}
            </button>
          </li>
        ))}
      </ul>
      {data?.workflows.length === 0 && <p role="status">No prompt has these words.</p>}
    </Modal>
  )
}
