import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/button/button.tsx'
import { Page } from '../../parts/page/page.tsx'
import { useProblems } from '../../parts/fields/use-problems.ts'
import { LinkTabs } from '../../parts/tabs/link-tabs.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { places } from '../../shell/places.ts'
import { useRefusal } from '../../shell/session.tsx'
import { DraftAside } from './draft-aside.tsx'
import { Changes } from './changes.tsx'
import { ParametersForm, ScriptForm } from './code-form.tsx'
import { type DraftDialog, DraftDialogs } from './draft-dialogs.tsx'
import { DraftLine, Notices } from './notices.tsx'
import type { Committed } from './draft/commit-draft.ts'
import type { DraftLock } from './draft/use-draft-lock.ts'
import styles from './edit.module.css'
import { type Base, type Editing, problemOfParameters, promptPlaces } from './draft/editing.ts'
import { PromptForm } from './prompt-form.tsx'
import { useEditing } from './draft/use-editing.ts'
import { useSettled } from './draft/use-settled.ts'
import { useInspection } from './draft/use-inspection.ts'

export interface WorkspaceProps {
  readonly slug: string
  readonly variant: string
  /** Under which the draft is kept. */
  readonly name: string
  /** The latest revision of the variant. */
  readonly head: Base
  /** Where the edit begins: the draft's base, or the head. */
  readonly base: Base
  readonly begun: Editing | undefined
  readonly lock: DraftLock
  readonly view: string | undefined
  /** Begins again, at the head. */
  readonly again: () => void
}

/** A revision that is edited: the form, what the server says of it, what is changed, and its way to a commit. */
export function Workspace({ slug, variant, name, head, base, begun, lock, view, again }: WorkspaceProps) {
  const readOnly = lock.isHeld === false
  const { editing, edit, isDirty, change, kept, drop } = useEditing(name, base, begun, !readOnly)
  const problems = useProblems()
  const [dialog, setDialog] = useState<DraftDialog>()
  const navigate = useNavigate()
  const shown = useSettled(editing, 250)
  const inspection = useInspection(editing.text)
  const lacking = useRefusal('write')
  const isBehind = head.revisionId !== base.revisionId
  const broken = problemOfParameters(editing.typed) ?? problems.first
  const refusal =
    (readOnly ? 'This draft is edited in another tab.' : undefined) ??
    broken ??
    (change !== undefined ? undefined : 'Nothing is changed.')
  const asJson = view === 'json' || !promptPlaces(editing.text)

  const commit = (): void => setDialog(isBehind ? 'moved' : 'commit')
  async function committed(revision: Committed): Promise<void> {
    await drop()
    const warnings = revision.warnings?.map(({ message }) => message)
    await navigate({
      to: places.version(slug, revision.variant_slug, Number(revision.version)),
      state: { warnings } as never,
    })
  }
  async function discard(): Promise<void> {
    await drop()
    setDialog(undefined)
    again()
  }
  useCommands([
    ...(dialog === undefined
      ? [
          {
            id: 'commit',
            title: `Commit to ${variant}`,
            keys: 'mod+enter',
            refusal: lacking ?? refusal,
            run: commit,
          },
        ]
      : []),
    {
      id: 'leave',
      title: `Back to ${variant}`,
      keys: 'escape',
      run: () => void navigate({ to: places.version(slug, variant) }),
    },
    {
      id: 'discard',
      title: 'Discard the draft',
      refusal: isDirty ? undefined : 'There is no draft.',
      run: () => setDialog('discard'),
    },
  ])
  return (
    <Page
      wide
      crumbs={[
        { label: slug, to: places.artifact(slug) },
        {
          label: variant,
          to: places.version(slug, variant),
          siblings: { of: 'variants', family: 'workflows', artifact: slug, page: 'edit' },
        },
        { label: 'Edit' },
      ]}
      about={
        <>
          <Link to={places.version(slug, variant, base.version)}>from v{base.version}</Link>
          <DraftLine isDirty={isDirty} kept={kept} />
        </>
      }
      actions={
        <>
          {isDirty && <Button onClick={() => setDialog('discard')}>Discard draft</Button>}
          <Button kind="primary" needs="write" refusal={refusal} onClick={commit}>
            Commit to {variant}
          </Button>
        </>
      }
    >
      <Notices
        variant={variant}
        head={head}
        base={base}
        isDirty={isDirty}
        refusal={broken}
        lock={lock}
        again={again}
        seeBoth={() => setDialog('moved')}
      />
      {promptPlaces(editing.text) && (
        <LinkTabs
          label="How it is edited"
          tabs={[
            { label: 'Form', to: places.edit(slug, variant), isHere: !asJson },
            { label: 'JSON', to: places.edit(slug, variant), search: { view: 'json' }, isHere: asJson },
          ]}
        />
      )}
      <div className={styles.workspace}>
        <div className={styles.form}>
          {asJson ? (
            <>
              <ScriptForm editing={editing} edit={edit} readOnly={readOnly} />
              <ParametersForm
                editing={editing}
                edit={edit}
                readOnly={readOnly}
                problems={inspection.problems}
              />
            </>
          ) : (
            <PromptForm
              editing={editing}
              edit={edit}
              readOnly={readOnly}
              problemAt={inspection.problemAt}
              onProblem={problems.note}
            />
          )}
          <section className={styles.changes} aria-label="What is changed">
            <h2>What is changed of v{base.version}</h2>
            <Changes base={base.text} text={shown.text} />
          </section>
        </div>
        <DraftAside text={shown.text} inspection={inspection} broken={broken} />
      </div>
      <DraftDialogs
        dialog={dialog}
        open={setDialog}
        variant={variant}
        head={head}
        base={base}
        change={change}
        text={editing.text}
        onCommitted={(revision) => void committed(revision)}
        onDiscard={() => void discard()}
      />
    </Page>
  )
}
