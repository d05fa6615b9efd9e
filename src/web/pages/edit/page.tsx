import { Link, useNavigate, useParams } from '@tanstack/react-router'
import type { DraftLock } from '../../parts/drafts/draft-lock.ts'
import { useState } from 'react'
import { Button } from '../../parts/button/button.tsx'
import { Page } from '../../parts/page/page.tsx'
import { useProblems } from '../../parts/fields/fields.tsx'
import { LinkTabs } from '../../parts/tabs/tabs.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { places, useAddress } from '../../shell/places.ts'
import { useRefusal, useSession } from '../../shell/session.tsx'
import { Failure, Skeleton } from '../../parts/states/states.tsx'
import { Changes } from '../../parts/draft/changes.tsx'
import { type DraftDialog, DraftDialogs } from '../../parts/draft/draft-dialogs.tsx'
import type { Committed } from '../../parts/draft/commit-draft.ts'
import {
  type DraftStart,
  useDraftStart,
  useEditing,
  type EditingState,
} from '../../parts/draft/use-editing.ts'
import styles from './edit.module.css'
import {
  type Base,
  problemOfParameters,
  promptPlaces,
  put,
  namedInputs,
  promptInputs,
} from '../../parts/draft/editing.ts'
import { SchemaForm, useEvaluatorSchema } from '../../parts/form/schema-form.tsx'
import { PromptForm } from '../../parts/draft/prompt-form.tsx'
import { RawForm } from '../../parts/draft/raw-form.tsx'
import { useSettled, useInspection, type Inspection } from '../../parts/draft/use-inspection.ts'
import { Ago } from '../../parts/time/time.tsx'
import { TryPane } from './try-pane.tsx'

/** `/a/<slug>/edit/<variant>`: edits the latest version of a variant, or continues its draft, and tries it. */
export default function EditPage() {
  const { slug = '', variant = '' } = useParams({ strict: false })
  const { project } = useSession()
  const name = `${project}/${slug}/${variant}`
  return <Loaded key={name} slug={slug} variant={variant} name={name} />
}

interface LoadedProps {
  readonly slug: string
  readonly variant: string
  readonly name: string
}

function Loaded({ slug, variant, name }: LoadedProps) {
  const { start, lock, error, refetch, again } = useDraftStart(slug, variant, name)
  if (start)
    return (
      <Workspace
        key={start.turn}
        slug={slug}
        variant={variant}
        name={name}
        start={start}
        lock={lock}
        again={again}
      />
    )
  return (
    <Page
      title={`Edit ${variant}`}
      crumbs={[
        { label: slug, to: places.artifact(slug) },
        { label: variant, to: places.version(slug, variant) },
        { label: 'Edit' },
      ]}
    >
      {error ? (
        <Failure error={error} retry={refetch} />
      ) : (
        <Skeleton label={`Loading ${variant}`} lines={10} />
      )}
    </Page>
  )
}

interface WorkspaceProps {
  readonly slug: string
  readonly variant: string
  /** The name of the draft. */
  readonly name: string
  readonly start: DraftStart
  readonly lock: DraftLock
  /** Starts again from the head. */
  readonly again: () => void
}

/** The editor of a prompt or another workflow: its form, checks and changes, and beside it the pane that tries the draft. */
function Workspace({ slug, variant, name, start, lock, again }: WorkspaceProps) {
  const { head, base, begun, isEvaluator } = start
  const readOnly = lock.isHeld === false
  const { editing, edit, isDirty, change, settle, kept, drop } = useEditing(name, base, begun, !readOnly)
  const problems = useProblems()
  const [dialog, setDialog] = useState<DraftDialog>()
  const navigate = useNavigate()
  const search = useAddress()
  const shown = useSettled(editing, 250)
  const inspection = useInspection(editing.text)
  const lacking = useRefusal('write')
  const isBehind = head.revisionId !== base.revisionId
  const broken = problemOfParameters(editing.typed) ?? problems.first
  const unready = (readOnly ? 'This draft is open in another tab.' : undefined) ?? broken
  const isPrompt = promptPlaces(shown.text) !== undefined
  const schema = useEvaluatorSchema(shown.text, isEvaluator)
  const hasForm = isPrompt || schema !== undefined
  const asJson = search['view'] === 'json' || !hasForm
  // What was never saved has no page to go back to.
  const list = base.making && {
    label: base.making.kind === 'evaluators' ? 'Evaluators' : 'Prompts',
    to: places.home(base.making.kind),
  }

  function commit(): void {
    if (settle()) setDialog(isBehind ? 'moved' : 'commit')
  }
  async function committed(revision: Committed): Promise<void> {
    await drop()
    const warnings = revision.warnings?.map(({ message }) => message)
    await navigate({
      to: places.version(revision.artifact_slug, revision.variant_slug, Number(revision.version)),
      state: { warnings } as never,
    })
  }
  async function discard(): Promise<void> {
    await drop()
    setDialog(undefined)
    if (base.making) await navigate({ to: '/', search: { kind: base.making.kind } })
    else again()
  }
  useCommands([
    { id: 'commit', title: 'Save version', keys: 'mod+s', refusal: lacking ?? unready, run: commit },
    {
      id: 'leave',
      title: `Back to ${list?.label ?? variant}`,
      keys: 'escape',
      run: () => void navigate({ to: list?.to ?? places.version(slug, variant) }),
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
      title={`Edit ${variant}`}
      crumbs={
        list
          ? [list, { label: slug }, { label: 'Edit' }]
          : [
              { label: slug, to: places.artifact(slug) },
              {
                label: variant,
                to: places.version(slug, variant),
                siblings: { of: 'variants', family: 'workflows', artifact: slug, page: 'edit' },
              },
              { label: 'Edit' },
            ]
      }
      about={
        <>
          {base.making ? (
            <span>not saved yet</span>
          ) : (
            <Link to={places.version(slug, variant, base.version)}>from v{base.version}</Link>
          )}
          <DraftLine isDirty={isDirty} kept={kept} />
        </>
      }
      actions={
        <>
          {isDirty && <Button onClick={() => setDialog('discard')}>Discard draft</Button>}
          <Button
            kind="primary"
            needs="write"
            refusal={unready ?? (isDirty ? undefined : 'No changes.')}
            aria-keyshortcuts="Control+S"
            onClick={commit}
          >
            Save version
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
        seeBoth={commit}
      />
      <div className={styles.workspace}>
        <div className={styles.form}>
          {hasForm && (
            <LinkTabs
              label="How it is edited"
              tabs={[
                {
                  label: 'Form',
                  to: places.edit(slug, variant),
                  search: { ...search, view: undefined },
                  isHere: !asJson,
                },
                {
                  label: 'JSON',
                  to: places.edit(slug, variant),
                  search: { ...search, view: 'json' },
                  isHere: asJson,
                },
              ]}
            />
          )}
          {asJson ? (
            <RawForm editing={editing} edit={edit} readOnly={readOnly} problems={inspection.problems} />
          ) : (
            <>
              {isPrompt && (
                <PromptForm
                  editing={editing}
                  edit={edit}
                  readOnly={readOnly}
                  problemAt={inspection.problemAt}
                  missingKey={inspection.missingKey}
                  onProblem={problems.note}
                />
              )}
              {schema !== undefined && (
                <section aria-label="Settings">
                  <SchemaForm
                    schema={schema}
                    text={editing.text}
                    path={PARAMETERS}
                    leaveOut={isPrompt ? IN_PROMPT_FORM : []}
                    readOnly={readOnly}
                    onChange={(path, json) => edit((it) => put(it, path, json))}
                    problemAt={inspection.problemAt}
                    onProblem={problems.note}
                  />
                </section>
              )}
            </>
          )}
        </div>
        <TryPane
          slug={slug}
          variant={variant}
          isUnmade={base.making !== undefined}
          text={editing.text}
          shown={shown.text}
          judges={isEvaluator}
          broken={broken}
          isDirty={isDirty}
        />
        <div className={styles.rest}>
          <DraftAside
            text={shown.text}
            hasVariables={!isEvaluator || isPrompt}
            inspection={inspection}
            broken={broken}
          />
          <section className={styles.changes} aria-label="Changes">
            <h2>{base.making ? 'What it holds' : `Changes since v${base.version}`}</h2>
            <Changes base={base.text} text={shown.text} />
          </section>
        </div>
      </div>
      <DraftDialogs
        slug={slug}
        name={name}
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

const PARAMETERS = ['parameters']

/** What the form of a judge's prompt has already. */
const IN_PROMPT_FORM = ['prompt', 'prompt_template', 'model', 'template_format']

interface NoticesProps {
  readonly variant: string
  readonly head: Base
  readonly base: Base
  readonly isDirty: boolean
  /** Why the draft cannot be compared now. */
  readonly refusal: string | undefined
  readonly lock: DraftLock
  readonly again: () => void
  readonly seeBoth: () => void
}

/** Tells that another tab edits the draft, or that the variant has a newer version. Nothing changes by itself. */
function Notices({ variant, head, base, isDirty, refusal, lock, again, seeBoth }: NoticesProps) {
  const isElsewhere = lock.isHeld === false
  const isBehind = head.revisionId !== base.revisionId
  return (
    <div role="status">
      {isElsewhere && (
        <p className={styles.notice}>
          This draft is open in another tab, where it can be edited.
          <Button onClick={lock.takeOver}>Edit it here</Button>
        </p>
      )}
      {isBehind && !isElsewhere && (
        <p className={styles.notice}>
          {variant} is now at v{head.version}; {isDirty ? 'your draft starts from' : 'this is'} v
          {base.version}.
          {isDirty ? (
            <Button refusal={refusal} onClick={seeBoth}>
              See both
            </Button>
          ) : (
            <Button onClick={again}>Start from v{head.version}</Button>
          )}
        </p>
      )}
    </div>
  )
}

/** Where the draft is saved. */
function DraftLine({ isDirty, kept }: Pick<EditingState, 'isDirty' | 'kept'>) {
  if (kept && 'problem' in kept) return <span>The draft could not be saved: {kept.problem}</span>
  if (!isDirty) return <span>no changes</span>
  return kept ? (
    <span>
      draft saved in this browser, <Ago date={kept.at} inSentence />
    </span>
  ) : (
    <span>draft in this browser</span>
  )
}

/** The draft's variables and problems. */
function DraftAside({
  text,
  hasVariables,
  inspection: { problems, checked, isRefused },
  broken,
}: {
  readonly text: string
  /** An evaluator’s parameters have no variables, except a judge’s question. */
  readonly hasVariables: boolean
  readonly inspection: Inspection
  /** Why the typed text cannot be saved, and was not checked. */
  readonly broken: string | undefined
}) {
  const found = promptInputs(text)
  const named = namedInputs(text)
  return (
    <aside className={styles.aside} aria-label="About the draft">
      <section hidden={!hasVariables}>
        <h2>Variables</h2>
        {found.length === 0 ? (
          <p className={styles.note}>No variables.</p>
        ) : (
          <ul className={styles.variables}>
            {found.map((name) => (
              <li key={name}>
                <code dir="auto">{name}</code>
                {named.length > 0 && !named.includes(name) && (
                  <span className={styles.note}>not among the schema’s inputs</span>
                )}
              </li>
            ))}
          </ul>
        )}
      </section>
      <section role="status">
        <h2>Checks</h2>
        {broken !== undefined && <p>{broken}</p>}
        {problems.length === 0 ? (
          broken === undefined && <p className={styles.note}>{WORDS[checked]}</p>
        ) : (
          <ul className={styles.problems}>
            {problems.map(({ loc, msg }, at) => (
              <li key={at}>
                <strong>{isRefused ? 'Error' : 'Warning'}</strong>
                {loc.length > 0 && <code>{loc.join('.')}: </code>}
                {msg}
              </li>
            ))}
          </ul>
        )}
      </section>
    </aside>
  )
}

const WORDS = {
  yes: 'No problems found.',
  'not yet': 'Checking …',
  unreachable: 'The server is not responding, so the draft is not checked.',
} as const
