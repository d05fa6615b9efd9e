import { lazy, Suspense, useState } from 'react'
import { useRefusal } from '../../shell/session.tsx'
import type { MenuItem } from '../menu/menu.tsx'
import type { Act, UndoneVersion } from './undo-sheet.tsx'

/** Loaded when a dialog is opened: it brings the comparison and the part that resolves conflicts. */
const UndoDialog = lazy(() => import('./undo-sheet.tsx'))

/** The menu items that restore a version, undo its change, and copy its change to another variant, and their dialogs. */
export function useUndo(version: UndoneVersion | undefined) {
  const [act, open] = useState<Act>()
  const mayNotRead = useRefusal('read')
  const name = `v${version?.version}`
  const refusal = version ? mayNotRead : 'Choose a version.'
  const first = version?.version === 1 ? 'The first version has no earlier one.' : undefined
  const items: readonly MenuItem[] = [
    { label: `Restore ${name} …`, refusal, run: () => open('restore') },
    { label: `Undo the change of ${name} …`, refusal: refusal ?? first, run: () => open('revert') },
    {
      label: `Copy the change of ${name} to …`,
      refusal: refusal ?? first,
      run: () => open('cherry-pick'),
    },
  ]
  const dialogs = version && act && (
    <Suspense>
      <UndoDialog act={act} {...version} close={() => open(undefined)} />
    </Suspense>
  )
  return { items, dialogs }
}
