import { X } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { type ReactNode, useRef } from 'react'
import { DialogContext } from '../../shell/commands.tsx'
import styles from './modal.module.css'

export interface ModalProps {
  readonly open: boolean
  readonly close: () => void
  readonly title: string
  /** A sheet comes from the side and has room for a diff; a dialog is in the middle. */
  readonly sheet?: boolean
  /** Buttons at the end, the primary one last. */
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** A dialog. Escape closes it, and the focus goes back to where it was. A sheet takes the focus itself, so that its keys are there at once. */
export function Modal({ open, close, title, sheet = false, actions, children }: ModalProps) {
  const content = useRef<HTMLDivElement>(null)
  return (
    <Dialog.Root open={open} onOpenChange={(isOpen) => !isOpen && close()}>
      <Dialog.Portal>
        <Dialog.Overlay className={styles.overlay} />
        <Dialog.Content
          ref={content}
          className={sheet ? styles.sheet : styles.dialog}
          aria-describedby={undefined}
          onOpenAutoFocus={(event) => {
            if (!sheet) return
            event.preventDefault()
            content.current?.focus()
          }}
        >
          <header className={styles.head}>
            <Dialog.Title dir="auto">{title}</Dialog.Title>
            <Dialog.Close className={styles.close} aria-label="Close">
              <X size={16} aria-hidden />
            </Dialog.Close>
          </header>
          <div className={styles.body}>
            <DialogContext value={true}>{children}</DialogContext>
          </div>
          {actions !== undefined && <footer className={styles.foot}>{actions}</footer>}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
