import { type ReactNode, useEffect, useState } from 'react'
import type { DraftLock } from '../../parts/drafts/draft-lock.ts'
import { useRoute, useRouteText, useWrite } from '../../api/use-route.ts'
import { FormDialog } from '../../parts/dialog/dialog.tsx'
import { type DraftDialog, DraftDialogs } from '../../parts/draft/draft-dialogs.tsx'
import { beginAt, problemOfParameters, promptPlaces } from '../../parts/draft/editing.ts'
import { PromptForm } from '../../parts/draft/prompt-form.tsx'
import { RawForm } from '../../parts/draft/raw-form.tsx'
import {
  type DraftStart,
  keepDraft,
  type Stored,
  storedIn,
  useDraftStart,
  useEditing,
} from '../../parts/draft/use-editing.ts'
import { useInspection } from '../../parts/draft/use-inspection.ts'
import { Button } from '../../parts/button/button.tsx'
import { useDeployments } from '../../parts/deploy/use-deployments.ts'
import { ChoiceField, TextField, useProblems } from '../../parts/fields/fields.tsx'
import { Menu, type MenuItem } from '../../parts/menu/menu.tsx'
import { Failure, Skeleton } from '../../parts/states/states.tsx'
import type { Executed } from '../../parts/run/use-runs.ts'
import { places } from '../../shell/places.ts'
import { useRefusal, useSession } from '../../shell/session.tsx'
import { type Column, type ColumnEnd, draftName, MOST_COLUMNS } from './columns.ts'
import styles from './playground.module.css'

/** What a column runs, once it is known. */
export interface Ready {
  readonly executed: Executed
  /** As JSON text. */
  readonly data: string
  /** `main v3`, `draft of main`. */
  readonly title: string
  readonly variant: string
  readonly judges: boolean
  /** Why it cannot run as it stands. */
  readonly refusal: string | undefined
}

export interface ColumnProps {
  readonly slug: string
  readonly column: Column
  /** From 1. */
  readonly number: number
  readonly count: number
  /** Called with what it runs, and with undefined while that is not known. */
  readonly onReady: (key: string, ready: Ready | undefined) => void
  /** Shows something else in its place. */
  readonly replace: (end: ColumnEnd) => void
  /** Adds a column after it. */
  readonly add: (end: ColumnEnd) => void
  readonly remove: () => void
  /** A draft's number that no column of the variant has. */
  readonly free: (variant: string) => number
  /** Whether the form of a draft is folded at first: the outputs of rows stand below it. */
  readonly isFolded: boolean
  /** The output. */
  readonly children: ReactNode
}

/** A column of the playground: what runs, with its menu, and its output. */
export function PlaygroundColumn(props: ColumnProps) {
  const { column } = props
  return column.end.kind === 'draft' ? (
    <DraftColumn {...props} end={column.end} />
  ) : (
    <StoredColumn {...props} end={column.end} />
  )
}

type EndOf<K extends ColumnEnd['kind']> = Extract<ColumnEnd, { kind: K }>

/** A column of a stored version. */
function StoredColumn(props: ColumnProps & { readonly end: EndOf<'stored'> }) {
  const { slug, column, onReady, end, replace, add, free } = props
  const [isForking, setForking] = useState(false)
  const { project } = useSession()
  const { variant, version, revision, environment } = end
  const answer = useRouteText('POST /workflows/revisions/retrieve', {
    body: {
      workflow_ref: { slug },
      ...(variant === undefined ? {} : { workflow_variant_ref: { slug: variant } }),
      ...(version === undefined ? {} : { workflow_revision_ref: { version } }),
      ...(revision === undefined ? {} : { workflow_revision_ref: { slug: revision } }),
      ...(environment === undefined ? {} : { environment_ref: { slug: environment } }),
    },
  })
  const found = answer.data === undefined || answer.error ? undefined : storedIn(answer.data)
  const { head: base, isEvaluator = false } = found ?? {}
  const title = found && `${environment ?? found.variant} v${found.head.version}`
  useEffect(() => {
    onReady(
      column.key,
      found && title !== undefined
        ? {
            executed: { revisionId: found.head.revisionId },
            data: found.head.text,
            title,
            variant: found.variant,
            judges: isEvaluator,
            refusal: undefined,
          }
        : undefined,
    )
  }, [column.key, base?.revisionId, title])

  /** The head is edited as the draft of its variant, an older version as one of its own. */
  async function editHere(): Promise<void> {
    if (!found) return
    if (version === undefined && revision === undefined && environment === undefined)
      return replace({ kind: 'draft', variant: found.variant, number: 1 })
    const number = free(found.variant)
    await keepDraft(draftName(project, slug, found.variant, number), {
      base: found.head,
      editing: beginAt(found.head),
      savedAt: new Date().toISOString(),
    })
    replace({ kind: 'draft', variant: found.variant, number })
  }
  return (
    <Frame
      {...props}
      title={title}
      variant={found?.variant ?? variant ?? ''}
      shownVersion={found?.head.version}
      error={answer.error}
      retry={answer.refetch}
      items={[
        { label: 'Edit here', run: () => void editHere() },
        duplicateItem(props, () => add(end)),
        { label: 'New variant…', refusal: useRefusal('write'), run: () => setForking(true) },
      ]}
    >
      {props.children}
      {isForking && found && (
        <NewVariant
          slug={slug}
          from={found}
          close={() => setForking(false)}
          onMade={(made) => replace({ kind: 'stored', variant: made, version: undefined })}
        />
      )}
    </Frame>
  )
}

function duplicateItem({ count }: Pick<ColumnProps, 'count'>, run: () => void): MenuItem {
  const refusal = count < MOST_COLUMNS ? undefined : `There are ${MOST_COLUMNS} columns at most.`
  return { label: 'Duplicate', refusal, run }
}

/** A column of a draft in this browser. */
function DraftColumn(props: ColumnProps & { readonly end: EndOf<'draft'> }) {
  const { slug, end, column, onReady } = props
  const { project } = useSession()
  const name = draftName(project, slug, end.variant, end.number)
  const { start, lock, error, refetch, again } = useDraftStart(slug, end.variant, name)
  useEffect(() => {
    if (!start) onReady(column.key, undefined)
  }, [start === undefined])
  if (start)
    return <EditedColumn key={start.turn} {...props} name={name} start={start} lock={lock} again={again} />
  return (
    <Frame
      {...props}
      title={undefined}
      variant={end.variant}
      shownVersion={undefined}
      error={error}
      retry={refetch}
      items={[]}
    >
      {null}
    </Frame>
  )
}

interface EditedColumnProps extends ColumnProps {
  readonly end: EndOf<'draft'>
  readonly name: string
  readonly start: DraftStart
  readonly lock: DraftLock
  readonly again: () => void
}

/** The draft of a column, edited in it. */
function EditedColumn(props: EditedColumnProps) {
  const { slug, column, end, name, start, lock, again, onReady, replace, add, free } = props
  const { head, base, begun, isEvaluator } = start
  const { project } = useSession()
  const readOnly = lock.isHeld === false
  const { editing, edit, isDirty, change, settle, kept, drop } = useEditing(name, base, begun, !readOnly)
  const problems = useProblems()
  const inspection = useInspection(editing.text)
  const [dialog, setDialog] = useState<DraftDialog>()
  const mayNotWrite = useRefusal('write')
  const broken = problemOfParameters(editing.typed) ?? problems.first
  const elsewhere = readOnly ? 'This draft is open in another tab.' : undefined
  const refusal = mayNotWrite ?? elsewhere ?? broken ?? (isDirty ? undefined : 'This draft has no changes.')
  const title = `draft of ${end.variant}${end.number === 1 ? '' : ` (${end.number})`}`
  useEffect(() => {
    onReady(column.key, {
      executed: { slug, variant: end.variant, data: editing.text },
      data: editing.text,
      title,
      variant: end.variant,
      judges: isEvaluator,
      refusal: broken && `${title}: ${broken}`,
    })
  }, [column.key, editing.text, broken])

  async function duplicate(): Promise<void> {
    const number = free(end.variant)
    const copy = draftName(project, slug, end.variant, number)
    await keepDraft(copy, { base, editing, savedAt: new Date().toISOString() })
    add({ kind: 'draft', variant: end.variant, number })
  }
  return (
    <Frame
      {...props}
      title={title}
      variant={end.variant}
      shownVersion={undefined}
      error={null}
      retry={again}
      items={[
        { label: 'Save version…', refusal, run: () => save(isBehind() ? 'moved' : 'commit') },
        { label: 'New variant…', refusal, run: () => save('variant') },
        duplicateItem(props, () => void duplicate()),
        {
          label: 'Discard the draft…',
          refusal: elsewhere ?? (isDirty ? undefined : 'There is no draft.'),
          run: () => setDialog('discard'),
        },
        ...(end.number === 1 ? [{ label: 'Open in the editor', to: places.edit(slug, end.variant) }] : []),
      ]}
    >
      {elsewhere !== undefined && (
        <p className={styles.note}>
          {elsewhere} <Button onClick={lock.takeOver}>Edit it here</Button>
        </p>
      )}
      {kept && 'problem' in kept && (
        <p role="alert">The draft could not be saved in this browser: {kept.problem}</p>
      )}
      {props.children}
      <details className={styles.form} open={!props.isFolded}>
        <summary>{isDirty ? `Changed since v${base.version}` : `No changes since v${base.version}`}</summary>
        {promptPlaces(editing.text) ? (
          <PromptForm
            editing={editing}
            edit={edit}
            readOnly={readOnly}
            problemAt={inspection.problemAt}
            missingKey={inspection.missingKey}
            onProblem={problems.note}
          />
        ) : (
          <RawForm editing={editing} edit={edit} readOnly={readOnly} problems={inspection.problems} />
        )}
      </details>
      <DraftDialogs
        slug={slug}
        name={name}
        dialog={dialog}
        open={setDialog}
        variant={end.variant}
        head={head}
        base={base}
        change={change}
        text={editing.text}
        onCommitted={(saved) =>
          void drop().then(() =>
            replace({ kind: 'stored', variant: saved.variant_slug, version: Number(saved.version) }),
          )
        }
        onDiscard={() => {
          setDialog(undefined)
          void drop().then(again)
        }}
      />
    </Frame>
  )

  function save(how: DraftDialog): void {
    if (settle()) setDialog(how)
  }

  function isBehind(): boolean {
    return head.revisionId !== base.revisionId
  }
}

interface FrameProps extends Omit<ColumnProps, 'onReady' | 'free' | 'isFolded'> {
  /** Undefined while it is loaded. */
  readonly title: string | undefined
  readonly variant: string
  /** The version that is shown; undefined for a draft. */
  readonly shownVersion: number | undefined
  readonly error: Error | null
  readonly retry: () => unknown
  readonly items: readonly MenuItem[]
}

/** The head of a column, with what it runs to choose from. */
function Frame(props: FrameProps) {
  const { slug, column, number, count, title, variant, shownVersion, error, retry, items, replace, remove } =
    props
  return (
    <section
      aria-label={`Column ${number}${title === undefined ? '' : `: ${title}`}`}
      className={styles.column}
    >
      <header>
        <h2 dir="auto">{title ?? 'Loading …'}</h2>
        <Menu
          label={
            <>
              Actions<span className="visually-hidden"> of column {number}</span>
            </>
          }
          items={[
            ...items,
            {
              label: 'Remove the column',
              refusal: count > 1 ? undefined : 'This is the only column.',
              run: remove,
            },
          ]}
        />
      </header>
      <VersionPicker slug={slug} variant={variant} shown={shownVersion} end={column.end} pick={replace} />
      {error ? (
        <Failure error={error} retry={retry} />
      ) : title === undefined ? (
        <Skeleton label="Loading the column" lines={3} />
      ) : (
        props.children
      )}
    </section>
  )
}

interface VersionPickerProps {
  readonly slug: string
  readonly variant: string
  /** The version that is shown, if known. */
  readonly shown: number | undefined
  readonly end: ColumnEnd
  readonly pick: (end: ColumnEnd) => void
}

/** Begins the value of a choice that is an environment. */
const IN = 'in '

/** Chooses what a column runs: the latest version of a variant, one of the last hundred, what an environment runs, or the draft. */
function VersionPicker({ slug, variant, shown, end, pick }: VersionPickerProps) {
  const variants = useRoute('POST /workflows/variants/query', { body: { workflow_refs: [{ slug }] } })
  const log = useRoute(
    'POST /workflows/revisions/log',
    { body: { workflow_ref: { slug }, workflow_variant_ref: { slug: variant }, windowing: { limit: 100 } } },
    { enabled: variant !== '' },
  )
  const revisions = log.data?.workflow_revisions ?? []
  const slugs = variants.data?.workflow_variants.map((it) => it.slug) ?? []
  const { deployments } = useDeployments(slug)
  const { version, revision, environment } = end.kind === 'stored' ? end : {}
  const isLatest = [end.kind === 'draft', version, revision, environment].every((it) => !it)
  const isListed = shown === undefined || revisions.some((it) => Number(it.version) === shown)
  return (
    <div className={styles.picker}>
      <ChoiceField
        label="Variant"
        value={variant}
        choices={[...new Set([variant, ...slugs])].map((value) => ({ value, label: value }))}
        onChange={(value) => pick({ kind: 'stored', variant: value, version: undefined })}
      />
      <ChoiceField
        label="Version"
        value={
          end.kind === 'draft'
            ? 'draft'
            : environment !== undefined
              ? `${IN}${environment}`
              : isLatest
                ? ''
                : String(shown ?? '')
        }
        choices={[
          { value: 'draft', label: 'draft in this browser' },
          { value: '', label: isLatest && shown !== undefined ? `latest: v${shown}` : 'latest' },
          ...deployments.map((it) => ({
            value: `${IN}${it.environment.slug}`,
            label: `in ${it.environment.slug}: v${it.revision?.version}`,
          })),
          ...(isListed ? [] : [{ value: String(shown), label: `v${shown}` }]),
          ...revisions.map((it) => ({
            value: String(it.version),
            label: `v${it.version}  ${it.subject.slice(0, 60)}`,
          })),
        ]}
        onChange={(value) =>
          pick(
            value === 'draft'
              ? { kind: 'draft', variant, number: 1 }
              : value.startsWith(IN)
                ? {
                    kind: 'stored',
                    variant: undefined,
                    version: undefined,
                    environment: value.slice(IN.length),
                  }
                : { kind: 'stored', variant, version: value === '' ? undefined : Number(value) },
          )
        }
      />
    </div>
  )
}

interface NewVariantProps {
  readonly slug: string
  readonly from: Stored
  readonly close: () => void
  readonly onMade: (variant: string) => void
}

/** Makes a variant that starts at the version of a column. */
function NewVariant({ slug, from: { head: base, variant }, close, onMade }: NewVariantProps) {
  const [name, setName] = useState('')
  const fork = useWrite('POST /workflows/variants/fork')
  async function make(): Promise<void> {
    const { workflow_variant: made } = await fork.mutateAsync({
      body: {
        workflow_variant: { slug: name.trim() },
        workflow_ref: { slug },
        workflow_variant_id: base.variantId,
        workflow_revision_ref: { id: base.revisionId },
      },
    })
    onMade(made.slug)
  }
  return (
    <FormDialog
      title={`New variant from ${variant} v${base.version}`}
      action="Make the variant"
      needs="write"
      refusal={name.trim() === '' ? 'The new variant needs a name.' : undefined}
      submit={make}
      close={close}
    >
      {(problemOf) => (
        <TextField
          label="Name of the new variant"
          value={name}
          onChange={setName}
          autoFocus
          spellCheck={false}
          hint="Used in code and links. It can’t be changed later."
          problem={problemOf('slug')}
        />
      )}
    </FormDialog>
  )
}
