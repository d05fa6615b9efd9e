import { lazy, Suspense, useState } from 'react'
import type { Headed } from '../../api/headers.ts'
import { useCommands } from '../../shell/commands.tsx'
import { JsonView } from '../json/json-view.tsx'
import type { NamingAct } from './naming-dialogs.tsx'

/** Loaded when one is opened: they bring the forms. */
const NamingDialog = lazy(() => import('./naming-dialogs.tsx'))

/** The menu items that rename, describe and tag something, as commands, too, and their dialogs. */
export function useNaming(of: Headed | undefined, refusal: string | undefined) {
  const [act, open] = useState<NamingAct>()
  const why = of ? refusal : 'Still loading.'
  const items = [
    { label: 'Rename …', refusal: why, run: () => open('rename') },
    { label: 'Tags …', refusal: why, run: () => open('tags') },
  ] as const
  useCommands(items.map((it) => ({ ...it, id: it.label, title: it.label.replace(' …', '') })))
  const dialogs = of && act && (
    <Suspense>
      <NamingDialog act={act} of={of} close={() => open(undefined)} />
    </Suspense>
  )
  return { items, dialogs }
}

/** The description and the tags, where there are any. */
export function NamingFacts({ of: { description, tags = {} } }: { readonly of: Omit<Headed, 'family'> }) {
  return (
    <>
      {description !== undefined && <p dir="auto">{description}</p>}
      {Object.keys(tags).length > 0 && <JsonView name="tags" value={tags} />}
    </>
  )
}
