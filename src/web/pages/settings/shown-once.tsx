import { Copyable } from '../../parts/copy/copyable.tsx'
import { Button } from '../../parts/button/button.tsx'
import { Modal } from '../../parts/dialog/modal.tsx'

export interface ShownOnceProps {
  readonly title: string
  readonly secret: string
  readonly label: string
  readonly close: () => void
}

/** What the server tells once and never again. */
export function ShownOnce({ title, secret, label, close }: ShownOnceProps) {
  return (
    <Modal
      open
      close={close}
      title={title}
      actions={
        <Button kind="primary" onClick={close}>
          I have copied it
        </Button>
      }
    >
      <p>
        Copy it now: it is shown this once, and the server keeps nothing from which it could be told again.
      </p>
      <Copyable text={secret} label={label} />
    </Modal>
  )
}
