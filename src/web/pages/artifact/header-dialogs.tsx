import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { callText, Problem } from '../../api/call.ts'
import { type Artifact, artifactKind, type Revision } from '../../api/kinds.ts'
import { useWrite } from '../../api/use-route.ts'
import { FormDialog } from '../../parts/dialog/dialog.tsx'
import { ChoiceField } from '../../parts/fields/fields.tsx'
import { NameAndId, useNamed } from '../../parts/fields/name-and-id.tsx'
import { textAt } from '../../parts/json-text/json-text.ts'
import { places } from '../../shell/places.ts'
import styles from './artifact.module.css'
import type { Variant } from './use-artifact.ts'

/** What the menu does in a dialog. */
export type HeaderAct = 'merge' | 'duplicate' | 'delete'

interface HeaderDialogProps {
  readonly artifact: Artifact
  readonly close: () => void
}

export interface AnyHeaderDialogProps extends HeaderDialogProps {
  readonly act: HeaderAct
  /** The version that is shown, if there is one. */
  readonly revision: Revision | undefined
  readonly variants: readonly Variant[]
}

/** The dialog of an item of the menu. */
export default function HeaderDialog({ act, revision, variants, ...given }: AnyHeaderDialogProps) {
  switch (act) {
    case 'merge':
      return <MergeDialog variants={variants} from={revision?.variant_slug ?? ''} {...given} />
    case 'duplicate':
      return revision && <DuplicateDialog revision={revision} {...given} />
    case 'delete':
      return <DeleteDialog {...given} />
  }
}

interface DuplicateDialogProps extends HeaderDialogProps {
  /** The version whose data is copied. */
  readonly revision: Revision
}

/** Makes a new artifact with the data of a version, digit for digit, and opens its page. */
function DuplicateDialog({ artifact, revision, close }: DuplicateDialogProps) {
  const { word, list } = artifactKind(artifact)
  const { slug, description, tags, folder } = artifact
  const named = useNamed(`Copy of ${artifact.name ?? slug}`, 'workflows')
  const create = useWrite(`POST /simple/${list}` as 'POST /simple/workflows')
  const navigate = useNavigate()
  async function duplicate(): Promise<void> {
    const stored = await callText('GET /workflows/revisions/{id}', { path: { id: revision.id } })
    const header = {
      slug: named.id,
      name: named.name,
      ...(description === undefined ? {} : { description }),
      ...(tags === undefined ? {} : { tags }),
      ...(folder === undefined || folder === null ? {} : { folder }),
      ...(word === 'snippet' ? { flags: { is_snippet: true } } : {}),
      message: `Copied from ${slug} v${revision.version}`,
    }
    const data = textAt(stored, ['workflow_revision', 'data']) ?? '{}'
    const text = `{"${list.slice(0, -1)}": ${JSON.stringify(header).slice(0, -1)}, "data": ${data}}}`
    await create.mutateAsync({ text } as never)
    await navigate({ to: places.artifact(named.id) })
  }
  return (
    <FormDialog
      title={`Duplicate ${slug}`}
      action={named.id === '' ? 'Duplicate' : `Create ${named.id}`}
      needs="write"
      refusal={named.refusal}
      submit={duplicate}
      close={close}
    >
      {(problemOf) => (
        <>
          <p>
            Makes a new {word} with what v{revision.version} of {revision.variant_slug} holds. Its history
            begins there; {slug} stays as it is.
          </p>
          <NameAndId named={named} problem={problemOf('slug')} />
        </>
      )}
    </FormDialog>
  )
}

interface MergeDialogProps extends HeaderDialogProps {
  readonly variants: readonly Variant[]
  /** The variant that is shown. */
  readonly from: string
}

/** Asks which variant is merged into which, and opens their comparison, which shows the result before anything is merged. */
function MergeDialog({ artifact: { slug }, variants, from, close }: MergeDialogProps) {
  const slugs = variants.map((it) => it.slug)
  const other = (one: string): string => slugs.find((it) => it !== one) ?? ''
  const [source, setSource] = useState(from === slugs[0] ? other(from) : from)
  const [target, setTarget] = useState(other(source))
  const navigate = useNavigate()
  const choices = slugs.map((value) => ({ value, label: value }))
  return (
    <FormDialog
      title="Merge variants"
      action="Show the result"
      refusal={source === target ? 'Choose two different variants.' : undefined}
      submit={() => navigate({ to: places.compare(slug, `v:${target}`, `v:${source}`) })}
      close={close}
    >
      <ChoiceField label="Merge the changes of" value={source} choices={choices} onChange={setSource} />
      <ChoiceField label="into" value={target} choices={choices} onChange={setTarget} />
      <p>You see the result, and any conflicts, before anything is saved.</p>
    </FormDialog>
  )
}

/** Moves the artifact to the trash, unless something uses it; lists what does. */
function DeleteDialog({ artifact, close }: { readonly artifact: Artifact; readonly close: () => void }) {
  const { slug } = artifact
  const { word, list } = artifactKind(artifact)
  const navigate = useNavigate()
  const remove = useWrite('DELETE /simple/workflows/{id}')
  const users = remove.error instanceof Problem ? remove.error.document['users'] : undefined
  return (
    <FormDialog
      title={`Delete ${slug}`}
      action={`Delete ${slug}`}
      kind="danger"
      needs="write"
      submit={() =>
        remove
          .mutateAsync({ path: { id: artifact.id } })
          .then(() => navigate({ to: '/', search: { kind: list } as never }))
      }
      close={close}
    >
      <p>
        The {word} and its history move to the trash, from which you can restore them for 30 days. If
        something refers to it, archive it instead: that hides it and keeps everything working.
      </p>
      {Array.isArray(users) && (
        <ul className={styles.users}>
          <Users users={users} />
        </ul>
      )}
    </FormDialog>
  )
}

/** The users of an artifact, from 409 `in_use`, with links to their pages. */
function Users({ users }: { readonly users: readonly unknown[] }) {
  return users.slice(0, MOST).map((user, at) => {
    const { kind, id, slug } = user as Readonly<Record<string, string | undefined>>
    const to = placeOf(kind, id, slug)
    const name = slug ?? id ?? ''
    return (
      <li key={at}>
        {kind} {to === undefined ? name : <Link to={to}>{name}</Link>}
      </li>
    )
  })
}

const MOST = 50

function placeOf(kind = '', id = '', slug = ''): string | undefined {
  if (kind === 'trace') return places.trace(id)
  if (kind === 'evaluation') return places.evaluation(id)
  if (kind === 'webhook') return places.settings('webhooks')
  if (kind === 'fork') return places.artifact(slug)
  if (kind === 'deployment') return places.environment(slug)
  return undefined
}
