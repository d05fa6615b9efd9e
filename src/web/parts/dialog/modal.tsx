import { X } from 'lucide-react'
import { Dialog } from 'radix-ui'
import type { ReactNode } from 'react'
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

/** A dialog. Escape closes it, and the focus goes back to where it was. */
export function Modal({ open, close, title, sheet = false, actions, children }: ModalProps) {
  return (
    <Dialog.Root open={open} onOpenChange={(isOpen) => !isOpen && close()}>
      <Dialog.Portal>
        <Dialog.Overlay className={styles.overlay} />
        <Dialog.Content className={sheet ? styles.sheet : styles.dialog} aria-describedby={undefined}>
          <header className={styles.head}>
            <Dialog.Title>{title}</Dialog.Title>
            <Dialog.Close className={styles.close} aria-label="Close">
              <X size={16} aria-hidden />
            </Dialog.Close>
          </header>
          <div className={styles.body}>{children}</div>
          {actions !== undefined && <footer className={styles.foot}>{actions}</footer>}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
