import { useState } from 'react'
import { useWrite } from '../../api/use-route.ts'
import { FormDialog } from '../../parts/dialog/dialog.tsx'
import { TextField } from '../../parts/fields/fields.tsx'

/** Where a new variant starts: at a version of a variant, or at its head. */
export interface ForkPoint {
  readonly variant: string
  readonly version?: number
}

export interface ForkDialogProps {
  readonly slug: string
  readonly point: ForkPoint
  readonly close: () => void
}

/** Makes a variant that starts at a revision. */
export function ForkDialog({ slug, point: { variant, version }, close }: ForkDialogProps) {
  const [chosen, setChosen] = useState('')
  const { mutateAsync } = useWrite('POST /workflows/variants/fork')
  const from = version === undefined ? `the head of ${variant}` : `${variant} v${version}`
  const body = {
    workflow_variant: chosen === '' ? {} : { slug: chosen },
    workflow_ref: { slug },
    workflow_variant_ref: { slug: variant },
    ...(version === undefined ? {} : { workflow_revision_ref: { version } }),
  }
  return (
    <FormDialog
      title={`Fork from ${from}`}
      action={`Fork ${chosen}`}
      needs="write"
      submit={() => mutateAsync({ body })}
      close={close}
    >
      {(problemOf) => (
        <>
          <TextField
            label="Name of the variant"
            value={chosen}
            onChange={setChosen}
            autoFocus
            spellCheck={false}
            hint="Letters, digits, dots, dashes and underscores. It is a branch in git, and cannot be renamed."
            problem={problemOf('slug')}
          />
          <p>
            It starts from {from}. The same with git:{' '}
            <code>
              git push origin {version === undefined ? variant : `<commit>`}:refs/heads/{chosen || 'name'}
            </code>
          </p>
        </>
      )}
    </FormDialog>
  )
}
