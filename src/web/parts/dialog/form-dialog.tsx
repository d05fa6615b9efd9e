import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { Problem } from '../../api/problem.ts'
import type { Scope } from '../../shell/session.tsx'
import { Button } from '../button/button.tsx'
import { Failure } from '../states/failure.tsx'
import { Modal } from './modal.tsx'

export interface FormDialogProps {
  readonly title: string
  /** The words on the button. */
  readonly action: string
  /** `danger` for what cannot be taken back easily. */
  readonly kind?: 'primary' | 'danger'
  readonly needs: Scope
  /** Why it cannot be sent as it is. */
  readonly refusal?: string | undefined
  /** Sends it, and closes the dialog once that has happened. What it rejects with is shown, and what was typed is kept. */
  readonly submit: () => Promise<unknown>
  readonly close: () => void
  /** The fields; `problemOf` is what the server said of one of them. */
  readonly children: (problemOf: (field: string) => string | undefined) => ReactNode
}

/** A dialog with a form, sent by its button or Enter. */
export function FormDialog(props: FormDialogProps) {
  const { title, action, kind = 'primary', needs, refusal, submit, close, children } = props
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const id = useId()
  async function send(event: FormEvent): Promise<void> {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      await submit()
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }
  const said = new Set<unknown>()
  const problemOf = (field: string): string | undefined => {
    if (!(error instanceof Problem)) return undefined
    const own = error.errors.find(({ loc }) => loc.includes(field))
    if (own) return said.add(own) && own.msg
    const { conflict } = error.document as { readonly conflict?: Readonly<Record<string, unknown>> }
    if (typeof conflict?.[field] !== 'string') return undefined
    said.add(error)
    return `“${conflict[field]}” is taken already.`
  }
  const fields = children(problemOf)
  // What every field has said of itself is not said again above them.
  const isSaid =
    error instanceof Problem &&
    (said.has(error) || (error.errors.length > 0 && error.errors.every((it) => said.has(it))))
  return (
    <Modal
      open
      close={close}
      title={title}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" form={id} kind={kind} needs={needs} busy={isBusy} refusal={refusal}>
            {action}
          </Button>
        </>
      }
    >
      {error !== undefined && !isSaid && <Failure error={error} />}
      <form id={id} onSubmit={(event) => void send(event)}>
        {fields}
      </form>
    </Modal>
  )
}
