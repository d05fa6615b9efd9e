import { type ReactNode, useState } from 'react'
import { Button } from '../../parts/button/button.tsx'
import { Modal } from '../../parts/dialog/modal.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import type { Scope } from '../../shell/session.tsx'

export interface ConfirmProps {
  readonly title: string
  /** What comes of it. */
  readonly children: ReactNode
  /** The word on the button. */
  readonly action: string
  readonly needs: Scope
  readonly run: () => Promise<unknown>
  readonly close: () => void
}

/** Says what comes of something that cannot be taken back, and does it when that is wanted. */
export function Confirm({ title, children, action, needs, run, close }: ConfirmProps) {
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  async function go(): Promise<void> {
    setBusy(true)
    setError(undefined)
    try {
      await run()
      close()
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }
  return (
    <Modal
      open
      close={close}
      title={title}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind="danger" needs={needs} busy={isBusy} onClick={() => void go()}>
            {action}
          </Button>
        </>
      }
    >
      {error !== undefined && <Failure error={error} />}
      {children}
    </Modal>
  )
}
