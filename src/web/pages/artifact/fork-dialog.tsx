import { type FormEvent, useId, useState } from 'react'
import { Problem } from '../../api/call.ts'
import { useWrite } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import { Modal } from '../../parts/dialog/dialog.tsx'
import { TextField } from '../../parts/fields/fields.tsx'
import { Failure } from '../../parts/states/states.tsx'

/** Where a new variant begins: a version of a variant, or its head. */
export interface ForkPoint {
  readonly variant: string
  readonly version?: number
}

export interface ForkDialogProps {
  readonly slug: string
  readonly point: ForkPoint
  readonly close: () => void
}

/** Makes a variant that begins at a revision. Both go on by themselves. */
export function ForkDialog({ slug, point: { variant, version }, close }: ForkDialogProps) {
  const [chosen, setChosen] = useState('')
  const fork = useWrite('POST /workflows/variants/fork')
  const form = useId()
  const from = version === undefined ? `the head of ${variant}` : `${variant} v${version}`
  const problem = fork.error instanceof Problem && fork.error.status < 500 ? fork.error.message : undefined
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    fork.mutate(
      {
        body: {
          workflow_variant: chosen === '' ? {} : { slug: chosen },
          workflow_ref: { slug },
          workflow_variant_ref: { slug: variant },
          ...(version === undefined ? {} : { workflow_revision_ref: { version } }),
        },
      },
      { onSuccess: close },
    )
  }
  return (
    <Modal
      open
      close={close}
      title={`Fork from ${from}`}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" form={form} kind="primary" busy={fork.isPending} needs="write">
            Fork {chosen}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit}>
        <TextField
          label="Name of the variant"
          value={chosen}
          onChange={setChosen}
          autoFocus
          spellCheck={false}
          hint="Letters, digits, dots, dashes and underscores. It is a branch in git, and cannot be renamed."
          problem={problem}
        />
        {fork.error && problem === undefined && <Failure error={fork.error} />}
        <p>
          It begins as {from} is; the next commit on it is its own. The same with git:{' '}
          <code>
            git push origin {version === undefined ? variant : `<commit>`}:refs/heads/{chosen || 'name'}
          </code>
        </p>
      </form>
    </Modal>
  )
}
