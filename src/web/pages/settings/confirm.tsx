import type { ReactNode } from 'react'
import { FormDialog } from '../../parts/dialog/form-dialog.tsx'
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
export function Confirm({ children, run, close, ...rest }: ConfirmProps) {
  return (
    <FormDialog {...rest} kind="danger" submit={() => run().then(close)} close={close}>
      {() => children}
    </FormDialog>
  )
}
