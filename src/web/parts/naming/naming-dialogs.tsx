import { useQueryClient } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useState } from 'react'
import { editHeader, type Headed, tagsOf } from '../../api/headers.ts'
import { writeOurs } from '../../api/ours.ts'
import { refetchShown } from '../../api/use-route.ts'
import { Button } from '../button/button.tsx'
import { FormDialog } from '../dialog/dialog.tsx'
import { LongTextField, TextField } from '../fields/fields.tsx'
import styles from './naming.module.css'

/** What is done in a dialog. */
export type NamingAct = 'rename' | 'tags'

interface NamingProps {
  readonly of: Headed
  readonly close: () => void
}

/** The dialog of a menu item. */
export default function NamingDialog({ act, ...given }: NamingProps & { readonly act: NamingAct }) {
  return act === 'rename' ? <RenameDialog {...given} /> : <TagsDialog {...given} />
}

function useHeaderEdit(of: Headed) {
  const cache = useQueryClient()
  return async (header: object): Promise<void> => {
    await writeOurs(() => editHeader(of, header))
    await refetchShown(cache)
  }
}

/** Edits the name and the description. */
function RenameDialog({ of, close }: NamingProps) {
  const [name, setName] = useState(of.name ?? '')
  const [description, setDescription] = useState(of.description ?? '')
  const edit = useHeaderEdit(of)
  const header = {
    ...(name === (of.name ?? '') ? {} : { name: name === '' ? null : name }),
    ...(description === (of.description ?? '')
      ? {}
      : { description: description === '' ? null : description }),
  }
  return (
    <FormDialog
      title={`Rename ${of.slug}`}
      action="Rename"
      needs="write"
      submit={() => edit(header)}
      close={close}
    >
      {(problemOf) => (
        <>
          <TextField label="Name" value={name} onChange={setName} autoFocus problem={problemOf('name')} />
          <LongTextField
            label="Description"
            value={description}
            onChange={setDescription}
            rows={4}
            problem={problemOf('description')}
          />
          <p className="muted-small">
            The ID stays <code>{of.slug}</code>, so links and code keep working.
          </p>
        </>
      )}
    </FormDialog>
  )
}

/** A tag in the form. A value that is not text is shown as JSON, and stays as it is unless it is changed. */
interface TagLine {
  readonly key: string
  readonly value: string
}

/** Adds, changes and removes tags. Tags that somebody else changed in the meantime stay. */
function TagsDialog({ of, close }: NamingProps) {
  const [before] = useState(of.tags ?? {})
  const [lines, setLines] = useState<readonly TagLine[]>(() => [
    ...Object.entries(before).map(([key, value]) => ({ key, value: textOf(value) })),
    { key: '', value: '' },
  ])
  const edit = useHeaderEdit(of)
  const named = lines.filter(({ key }) => key.trim() !== '')
  const keys = named.map(({ key }) => key.trim())
  const twice = keys.find((key, at) => keys.indexOf(key) !== at)
  const set = (at: number, line: TagLine): void =>
    setLines((all) => [
      ...all.map((it, index) => (index === at ? line : it)),
      // There is always an empty line to type into.
      ...(at === all.length - 1 && line.key !== '' ? [{ key: '', value: '' }] : []),
    ])
  async function save(): Promise<void> {
    const kept = Object.entries(await tagsOf(of)).filter(
      ([key]) => keys.includes(key) || !Object.hasOwn(before, key),
    )
    const changed = named
      .filter(({ key, value }) => !Object.hasOwn(before, key.trim()) || textOf(before[key.trim()]) !== value)
      .map(({ key, value }) => [key.trim(), value] as const)
    await edit({ tags: Object.fromEntries([...kept, ...changed]) })
  }
  return (
    <FormDialog
      title={`Tags of ${of.slug}`}
      action="Save the tags"
      needs="write"
      refusal={twice === undefined ? undefined : `The tag “${twice}” is there twice.`}
      submit={save}
      close={close}
    >
      <p>Tags are words and values that lists can filter by, such as “team: support”.</p>
      {lines.map((line, at) => (
        <div key={at} className={styles.tagLine}>
          <TextField
            label={`Tag ${at + 1}`}
            value={line.key}
            onChange={(key) => set(at, { ...line, key })}
            autoFocus={at === lines.length - 1}
          />
          <TextField
            label={`Value of tag ${at + 1}`}
            value={line.value}
            onChange={(value) => set(at, { ...line, value })}
          />
          <Button
            kind="quiet"
            aria-label={`Remove tag ${at + 1}`}
            onClick={() => setLines(lines.length === 1 ? EMPTY : lines.filter((_, index) => index !== at))}
          >
            <X size={16} aria-hidden />
          </Button>
        </div>
      ))}
      {twice !== undefined && <p role="alert">The tag “{twice}” is there twice.</p>}
    </FormDialog>
  )
}

const EMPTY: readonly TagLine[] = [{ key: '', value: '' }]

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
