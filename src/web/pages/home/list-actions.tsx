import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { call } from '../../api/call.ts'
import { editHeader, tagsOf } from '../../api/headers.ts'
import { writeOurs } from '../../api/ours.ts'
import { useRoute, refetchShown } from '../../api/use-route.ts'
import { ArtifactPicker } from '../../parts/artifact-picker/artifact-picker.tsx'
import { Button } from '../../parts/button/button.tsx'
import { FormDialog } from '../../parts/dialog/dialog.tsx'
import { LongTextField, TextField } from '../../parts/fields/fields.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { places } from '../../shell/places.ts'
import { useRefusal } from '../../shell/session.tsx'
import type { Family } from '../../api/kinds.ts'
import styles from './home.module.css'

/** What a list knows of one that is selected. */
export interface Selected {
  readonly id: string
  readonly slug: string
  readonly name?: string
  readonly description?: string
}

interface SelectionBarProps {
  readonly family: Family
  readonly selected: readonly Selected[]
  readonly clear: () => void
}

type Action = 'rename' | 'tag' | 'move' | 'archive' | 'evaluate'

/** What can be done with the selected ones of a list. */
export function SelectionBar({ family, selected, clear }: SelectionBarProps) {
  const [action, setAction] = useState<Action>()
  const lacking = useRefusal('write')
  const many = `${selected.length} ${selected.length === 1 ? family.one : family.title.toLowerCase()}`
  const actions = [
    ...(selected.length === 1 ? [{ action: 'rename', label: 'Rename …' } as const] : []),
    { action: 'tag', label: 'Tag …' },
    { action: 'move', label: 'Move …' },
    ...(family.kind === 'applications' ? [{ action: 'evaluate', label: 'Evaluate …' } as const] : []),
    { action: 'archive', label: 'Archive …' },
  ] as const
  useCommands(
    actions.map(({ action: it, label }) => ({
      id: `selected ${it}`,
      title: `${label.replace(' …', '')} ${many}`,
      keys: KEYS[it],
      refusal: it === 'evaluate' ? undefined : lacking,
      run: () => setAction(it),
    })),
  )
  const Dialog = action && DIALOGS[action]
  return (
    <div className={`row ${styles.selection}`} role="group" aria-label="Selected">
      <span role="status">{many} selected</span>
      {actions.map(({ action: it, label }) => (
        <Button
          key={it}
          needs={it === 'evaluate' ? 'invoke' : 'write'}
          aria-keyshortcuts={KEYS[it]}
          onClick={() => setAction(it)}
        >
          {label}
        </Button>
      ))}
      <Button kind="quiet" onClick={clear}>
        Clear
      </Button>
      {Dialog && (
        <Dialog
          family={family}
          selected={selected}
          many={many}
          clear={clear}
          close={() => setAction(undefined)}
        />
      )}
    </div>
  )
}

const KEYS = { rename: 'r', tag: 't', move: 'm', archive: 'a', evaluate: 'v' } as const

interface ActionDialogProps extends SelectionBarProps {
  /** `3 prompts`. */
  readonly many: string
  readonly close: () => void
}

/** Does it to each, one after another. Throws a sentence that names those where it failed. */
function useEach({ selected, clear }: Pick<ActionDialogProps, 'selected' | 'clear'>) {
  const cache = useQueryClient()
  return async (write: (it: Selected) => Promise<unknown>): Promise<void> => {
    const failed: string[] = []
    for (const it of selected) {
      try {
        await writeOurs(() => write(it))
      } catch (error) {
        failed.push(`${it.slug}: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
    await refetchShown(cache)
    if (failed.length > 0)
      throw new Error(`${failed.length} of ${selected.length} failed. ${failed.slice(0, 3).join(' ')}`)
    clear()
  }
}

/** Prompts, evaluators and workflows share the routes of workflows. */
function familyOf({ kind }: Family) {
  return kind === 'applications' || kind === 'evaluators' ? 'workflows' : kind
}

function RenameSelected(props: ActionDialogProps) {
  const [it] = props.selected
  const [name, setName] = useState(it?.name ?? '')
  const [description, setDescription] = useState(it?.description ?? '')
  const each = useEach(props)
  const header = { name: name.trim() || null, description: description.trim() || null }
  return (
    <FormDialog
      title={`Rename ${it?.slug ?? ''}`}
      action="Rename"
      needs="write"
      submit={() => each(({ id }) => editHeader({ family: familyOf(props.family), id }, header))}
      close={props.close}
    >
      <TextField label="Name" value={name} onChange={setName} autoFocus />
      <LongTextField label="Description" rows={4} value={description} onChange={setDescription} />
    </FormDialog>
  )
}

function TagSelected(props: ActionDialogProps) {
  const [key, setKey] = useState('')
  const [value, setValue] = useState('')
  const each = useEach(props)
  const name = key.trim()
  return (
    <FormDialog
      title={`Tag ${props.many}`}
      action={value.trim() === '' ? 'Remove the tag' : 'Set the tag'}
      needs="write"
      refusal={name === '' ? 'Name the tag first.' : undefined}
      submit={() =>
        each(async ({ id }) => {
          const of = { family: familyOf(props.family), id }
          const tags = await tagsOf(of)
          const others = Object.fromEntries(Object.entries(tags).filter(([it]) => it !== name))
          const next = value.trim() === '' ? others : { ...others, [name]: value.trim() }
          await editHeader(of, { tags: next })
        })
      }
      close={props.close}
    >
      <TextField label="Tag" value={key} onChange={setKey} hint="Such as team." autoFocus />
      <TextField label="Value" value={value} onChange={setValue} hint="Empty removes the tag." />
    </FormDialog>
  )
}

function MoveSelected(props: ActionDialogProps) {
  const [folder, setFolder] = useState('')
  const { data } = useRoute('GET /folders', {})
  const list = useId()
  const each = useEach(props)
  const to = folder.trim()
  return (
    <FormDialog
      title={`Move ${props.many}`}
      action={to === '' ? 'Move out of all folders' : `Move to ${to}`}
      needs="write"
      submit={() =>
        each(({ id }) =>
          editHeader({ family: familyOf(props.family), id }, { folder: to === '' ? null : to }),
        )
      }
      close={props.close}
    >
      <TextField
        label="Folder"
        list={list}
        value={folder}
        onChange={setFolder}
        autoComplete="off"
        hint="An existing one, or a new one: support/tier-1. IDs and links stay."
        autoFocus
      />
      <datalist id={list}>
        {(data?.folders ?? []).map(({ path }) => (
          <option key={path} value={path} />
        ))}
      </datalist>
    </FormDialog>
  )
}

function ArchiveSelected(props: ActionDialogProps) {
  const each = useEach(props)
  const route = `POST /${familyOf(props.family)}/{id}/archive` as 'POST /workflows/{id}/archive'
  return (
    <FormDialog
      title={`Archive ${props.many}?`}
      action={`Archive ${props.many}`}
      kind="danger"
      needs="write"
      submit={() => each(({ id }) => call(route, { path: { id } }))}
      close={props.close}
    >
      <p>
        They disappear from lists, menus and search. Deployed versions keep running, links and clones keep
        working, and “Show archived” brings them back.
      </p>
    </FormDialog>
  )
}

function EvaluateSelected(props: ActionDialogProps) {
  const [testset, setTestset] = useState('')
  const [evaluator, setEvaluator] = useState('')
  const each = useEach(props)
  const navigate = useNavigate()
  const run = (slug: string) =>
    call('POST /evaluations/run', {
      body: {
        application_ref: { slug },
        testset_ref: { slug: testset },
        evaluator_refs: [{ slug: evaluator }],
        wait: false,
      },
    })
  return (
    <FormDialog
      title={`Evaluate ${props.many}`}
      action={`Start ${props.selected.length} evaluation${props.selected.length === 1 ? '' : 's'}`}
      needs="invoke"
      refusal={
        testset === ''
          ? 'Choose a testset first.'
          : evaluator === ''
            ? 'Choose an evaluator first.'
            : undefined
      }
      submit={async () => {
        await each(({ slug }) => run(slug))
        await navigate({ to: places.evaluations() })
      }}
      close={props.close}
    >
      <ArtifactPicker label="Testset" family="testset" value={testset} onChange={setTestset} autoFocus />
      <ArtifactPicker label="Evaluator" family="evaluator" value={evaluator} onChange={setEvaluator} />
    </FormDialog>
  )
}

const DIALOGS = {
  rename: RenameSelected,
  tag: TagSelected,
  move: MoveSelected,
  archive: ArchiveSelected,
  evaluate: EvaluateSelected,
} as const
