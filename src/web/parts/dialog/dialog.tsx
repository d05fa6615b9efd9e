import { X } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { type ReactNode, useRef, type FormEvent, useId } from 'react'
import { Problem } from '../../api/call.ts'
import { DialogContext } from '../../shell/commands.tsx'
import type { Scope } from '../../shell/session.tsx'
import { Button } from '../button/button.tsx'
import { Failure } from '../states/states.tsx'
import styles from './dialog.module.css'
import { useWork } from '../../api/use-route.ts'

interface ModalProps {
  readonly open: boolean
  readonly close: () => void
  readonly title: string
  /** A sheet opens at the side and has room for a diff; a dialog is in the middle. */
  readonly sheet?: boolean
  /** Has room for two columns. */
  readonly wide?: boolean
  /** The buttons at the bottom, the primary one last. */
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** What can be typed into or chosen. */
const FIELDS = 'input:not(:disabled), textarea:not(:disabled), select:not(:disabled), [contenteditable=true]'

/**
 * A dialog. Escape closes it, and the focus returns. Its first field has the focus, not the button that closes it: a space that is typed into that would
 * lose what was typed. A sheet takes the focus itself, so that its keys work at once.
 */
export function Modal(props: ModalProps) {
  const { open, close, title, sheet = false, wide = false, actions, children } = props
  const content = useRef<HTMLDivElement>(null)
  const opener = useRef<Element | null>(undefined)
  // A field that takes the focus by itself has it before the dialog knows of it.
  if (open && opener.current === undefined) opener.current = document.activeElement
  return (
    <Dialog.Root open={open} onOpenChange={(isOpen) => !isOpen && close()}>
      <Dialog.Portal>
        <Dialog.Overlay className={styles.overlay} />
        <Dialog.Content
          ref={content}
          className={`${sheet ? styles.sheet : styles.dialog} ${wide ? styles.wide : ''}`}
          aria-describedby={undefined}
          onEscapeKeyDown={(event) => {
            // What is typed in place ends by Escape, and the dialog stays.
            if (event.target instanceof HTMLElement && event.target.closest('[data-ends-by-escape]')) {
              event.preventDefault()
            }
          }}
          onOpenAutoFocus={(event) => {
            // Not the menu that opened it: by now that is gone, and its button has the focus.
            if (!content.current?.contains(document.activeElement)) opener.current = document.activeElement
            const first = sheet ? content.current : content.current?.querySelector<HTMLElement>(FIELDS)
            if (!first) return
            event.preventDefault()
            first.focus()
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault()
            // Another dialog that was opened meanwhile keeps the focus, unless this one was opened from it.
            const other = document.activeElement?.closest('[role=dialog]')
            if (opener.current instanceof HTMLElement && (!other || other.contains(opener.current)))
              opener.current.focus()
            opener.current = undefined
          }}
        >
          <header className={styles.head}>
            <Dialog.Title dir="auto">{title}</Dialog.Title>
            <Dialog.Close className="icon-button" aria-label="Close">
              <X size={16} aria-hidden />
            </Dialog.Close>
          </header>
          <DialogContext value={true}>
            <div className={styles.body}>{children}</div>
            {actions !== undefined && <footer className={styles.foot}>{actions}</footer>}
          </DialogContext>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

interface FormDialogProps {
  readonly title: string
  /** The label of the button. */
  readonly action: string
  /** `danger` for what cannot be undone easily. */
  readonly kind?: 'primary' | 'danger'
  readonly needs?: Scope
  readonly wide?: boolean
  /** Why it cannot be submitted now. */
  readonly refusal?: string | undefined
  /** Does it; then the dialog closes. On an error the dialog stays open and shows it. */
  readonly submit: () => Promise<unknown>
  readonly close: () => void
  /** The explanation, or the fields; `problemOf` is the server's message about a field. */
  readonly children: ReactNode | ((problemOf: (field: string) => string | undefined) => ReactNode)
}

/** A dialog that confirms an action or has a form, sent by its button or Enter. */
export function FormDialog(props: FormDialogProps) {
  const { title, action, kind = 'primary', needs, wide = false, refusal, submit, close, children } = props
  const { start, isBusy, error } = useWork()
  const id = useId()
  async function send(event: FormEvent): Promise<void> {
    event.preventDefault()
    if (isBusy) return
    if (await start(submit)) close()
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
  const fields = typeof children === 'function' ? children(problemOf) : children
  // Messages shown at fields are not repeated above them.
  const isSaid =
    error instanceof Problem &&
    (said.has(error) || (error.errors.length > 0 && error.errors.every((it) => said.has(it))))
  return (
    <Modal
      open
      close={close}
      title={title}
      wide={wide}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            type="submit"
            form={id}
            kind={kind}
            {...(needs && { needs })}
            busy={isBusy}
            refusal={refusal}
          >
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
