import { useState } from 'react'
import { useWrite } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import { useGuard } from '../../parts/deploy/deploy-sheet.tsx'
import { Modal } from '../../parts/dialog/modal.tsx'
import { TextField } from '../../parts/fields/text-field.tsx'
import { Failure } from '../../parts/states/failure.tsx'

export interface TakeDownProps {
  readonly deployKey: string
  /** The slug of the environment. */
  readonly from: string
  readonly close: () => void
}

/** Asks before something is taken down: clients that ask the environment for it get 404 from then on. */
export function TakeDown({ deployKey, from, close }: TakeDownProps) {
  const [message, setMessage] = useState('')
  const guard = useGuard(from)
  const { mutate, error, isPending } = useWrite('POST /environments/revisions/commit')
  const takeDown = (): void =>
    mutate(
      {
        body: {
          environment_revision_commit: {
            environment_ref: { slug: from },
            message: message.trim() === '' ? `Take down ${deployKey}` : message.trim(),
            delta: { remove: [deployKey] },
          },
        },
      },
      { onSuccess: close },
    )
  return (
    <Modal
      open
      close={close}
      title={`Take ${deployKey} down from ${from}`}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind="danger" refusal={guard} busy={isPending} onClick={takeDown}>
            Take it down
          </Button>
        </>
      }
    >
      <p>
        Whoever asks {from} for <code>{deployKey}</code> is answered 404 from then on. It can be deployed
        again.
      </p>
      <TextField
        label="Message"
        value={message}
        onChange={setMessage}
        placeholder={`Take down ${deployKey}`}
      />
      {guard !== undefined && <p>{guard}</p>}
      {error && <Failure error={error} />}
    </Modal>
  )
}
