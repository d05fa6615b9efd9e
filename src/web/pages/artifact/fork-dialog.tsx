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

/** Makes a variant that starts at a version. */
export function ForkDialog({ slug, point: { variant, version }, close }: ForkDialogProps) {
  const [chosen, setChosen] = useState('')
  const { mutateAsync } = useWrite('POST /workflows/variants/fork')
  const from = version === undefined ? `the newest version of ${variant}` : `${variant} v${version}`
  const body = {
    workflow_variant: chosen === '' ? {} : { slug: chosen },
    workflow_ref: { slug },
    workflow_variant_ref: { slug: variant },
    ...(version === undefined ? {} : { workflow_revision_ref: { version } }),
  }
  return (
    <FormDialog
      title={`New variant from ${from}`}
      action={chosen === '' ? 'Create the variant' : `Create ${chosen}`}
      needs="write"
      submit={() => mutateAsync({ body })}
      close={close}
    >
      {(problemOf) => (
        <>
          <p>A variant has versions of its own. It starts from {from}, and can be merged back.</p>
          <TextField
            label="Name of the variant"
            value={chosen}
            onChange={setChosen}
            autoFocus
            spellCheck={false}
            hint="Letters, digits, dots, dashes and underscores. It can’t be changed later."
            problem={problemOf('slug')}
          />
        </>
      )}
    </FormDialog>
  )
}
