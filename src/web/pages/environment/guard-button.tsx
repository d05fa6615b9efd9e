import { useState } from 'react'
import { useWrite } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import { Modal } from '../../parts/dialog/modal.tsx'
import { Failure } from '../../parts/states/failure.tsx'

export interface GuardButtonProps {
  readonly id: string
  readonly slug: string
  readonly isGuarded: boolean
  /** Why it cannot be changed now. */
  readonly refusal: string | undefined
}

/** Guards the environment, or opens it again; a dialog says what that means first. */
export function GuardButton({ id, slug, isGuarded, refusal }: GuardButtonProps) {
  const [isOpen, setOpen] = useState(false)
  const guard = useWrite('POST /simple/environments/{id}/guard')
  const unguard = useWrite('POST /simple/environments/{id}/unguard')
  const { mutate, error, isPending } = isGuarded ? unguard : guard
  const label = isGuarded ? 'Unguard' : 'Guard'
  return (
    <>
      <Button needs="deploy" refusal={refusal} onClick={() => setOpen(true)}>
        {label}…
      </Button>
      <Modal
        open={isOpen}
        close={() => setOpen(false)}
        title={`${label} ${slug}`}
        actions={
          <>
            <Button onClick={() => setOpen(false)}>Cancel</Button>
            <Button
              kind={isGuarded ? 'danger' : 'primary'}
              needs="deploy"
              busy={isPending}
              onClick={() => mutate({ path: { id } }, { onSuccess: () => setOpen(false) })}
            >
              {label} {slug}
            </Button>
          </>
        }
      >
        <p>
          {isGuarded
            ? `Every key with the scope write may deploy to ${slug} from then on, and push to its repository.`
            : `Only keys with the scope deploy may deploy to ${slug} from then on, take something down, or push to its repository. What runs stays as it is.`}
        </p>
        {error && <Failure error={error} />}
      </Modal>
    </>
  )
}
