import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../parts/button/button.tsx'
import { Modal } from '../../parts/dialog/modal.tsx'
import type { JsonChange } from '../../parts/json-text/json-text.ts'
import { CommitDialog } from './commit-dialog.tsx'
import type { Committed } from './draft/commit-draft.ts'
import type { Base } from './draft/editing.ts'
import { MovedSheet } from './moved-sheet.tsx'

export type DraftDialog = 'commit' | 'moved' | 'discard' | undefined

export interface DraftDialogsProps {
  readonly dialog: DraftDialog
  readonly open: (dialog: DraftDialog) => void
  readonly variant: string
  readonly head: Base
  readonly base: Base
  readonly change: JsonChange
  readonly text: string
  readonly onCommitted: (revision: Committed) => void
  readonly onDiscard: () => void
}

/** What an edit asks: how it is committed, what is done where others were faster, whether it is thrown away. */
export function DraftDialogs(props: DraftDialogsProps) {
  const { dialog, open, variant, head, base, change, text, onCommitted, onDiscard } = props
  const [message, setMessage] = useState('')
  const cache = useQueryClient()
  const close = (): void => open(undefined)
  if (dialog === 'discard') {
    return (
      <Modal
        open
        close={close}
        title="Discard the draft?"
        actions={
          <>
            <Button onClick={close}>Keep it</Button>
            <Button kind="danger" onClick={onDiscard}>
              Discard the draft
            </Button>
          </>
        }
      >
        <p>What you changed since v{base.version} is only in this browser. It cannot be brought back.</p>
      </Modal>
    )
  }
  if (!change) return null
  if (dialog === 'commit') {
    return (
      <CommitDialog
        variant={variant}
        draft={{ base, change }}
        text={text}
        close={close}
        onCommitted={onCommitted}
        onMoved={(typed) => {
          setMessage(typed)
          open('moved')
          void cache.invalidateQueries({ queryKey: ['POST /workflows/revisions/retrieve'] })
        }}
      />
    )
  }
  // Where a commit was refused, the head that was in the way arrives in a moment.
  if (dialog !== 'moved' || head.revisionId === base.revisionId) return null
  return (
    <MovedSheet
      variant={variant}
      head={{ id: head.revisionId, version: head.version }}
      draft={{ base, change }}
      text={text}
      message={message}
      close={close}
      onCommitted={onCommitted}
      onDiscard={() => open('discard')}
    />
  )
}
