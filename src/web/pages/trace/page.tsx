import { useNavigate, useParams, Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useRoute } from '../../api/use-route.ts'
import { Page } from '../../parts/page/page.tsx'
import { Failure, Skeleton } from '../../parts/states/states.tsx'
import { Ago, duration } from '../../parts/time/time.tsx'
import {
  hasFailed,
  nameOfRun,
  type SpanTree,
  spanTree,
  type TraceSpan,
  type SpanNode,
  ranOf,
  dataOf,
  type Named,
  referencesOf,
  valuesOf,
} from '../../parts/waterfall/spans.ts'
import { Waterfall } from '../../parts/waterfall/waterfall.tsx'
import { places, playgroundWith, useAddress, useChangeAddress } from '../../shell/places.ts'
import styles from './trace.module.css'
import { useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import { membersOf } from '../../api/json.ts'
import { Button, LinkButton } from '../../parts/button/button.tsx'
import { FeedbackBar } from '../../parts/feedback/feedback.tsx'
import { Menu } from '../../parts/menu/menu.tsx'
import { Values } from '../../parts/values/values.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { useRefusal } from '../../shell/session.tsx'
import { AddToTestset } from './add-to-testset.tsx'
import { FormDialog } from '../../parts/dialog/dialog.tsx'
import { dollars, Fold, PRICED } from '../../parts/text/text.tsx'
import { JsonView } from '../../parts/json/json-view.tsx'
import { LinkTabs } from '../../parts/tabs/tabs.tsx'
import { EnvironmentDot, RevisionChip } from '../../parts/chips/chips.tsx'
import { Conversation } from '../../parts/conversation/conversation.tsx'
import { messagesIn } from '../../parts/conversation/read-messages.ts'

/** `/trace/<id>`: the spans of a trace as a waterfall, and the selected one with its inputs and outputs. */
export default function TracePage() {
  const { id = '' } = useParams({ strict: false }) as { readonly id?: string }
  const { data, error, refetch } = useRoute('GET /traces/{id}', { path: { id } }, { immutable: true })
  const tree = useMemo(() => data && spanTree(data.trace.spans), [data])
  const root = tree?.roots[0]
  const run = root && runIn(root)
  return (
    <Page
      crumbs={[
        { label: 'Traces', to: places.traces() },
        { label: run ? nameOfRun(run).slice(0, 120) : `Trace ${id.slice(0, 8)}` },
      ]}
      fills
      about={tree && <About tree={tree} />}
      actions={root && run && <TraceActions id={id} root={root.span} run={run} />}
    >
      {error && <Failure error={error} retry={refetch} />}
      {!error && !tree && <Skeleton label="Loading the trace" lines={12} />}
      {tree && <FeedbackBar traceId={id} />}
      {tree && <Spans id={id} tree={tree} />}
    </Page>
  )
}

/** The span of the run: of a row of an evaluation, that of the prompt, unless older outputs were only judged again. */
function runIn(root: SpanNode): TraceSpan {
  const { evaluationId } = dataOf(root.span)
  const isOfPrompt = evaluationId !== undefined && root.span.trace_type !== 'annotation'
  const inner = isOfPrompt ? root.children[0] : undefined
  return inner && ranOf(inner.span) ? inner.span : root.span
}

function Spans({ id, tree }: { readonly id: string; readonly tree: SpanTree }) {
  const { span: picked = '' } = useAddress()
  const change = useChangeAddress()
  const [root] = tree.roots
  const node = tree.nodes.get(picked) ?? (root && tree.nodes.get(runIn(root).span_id))
  if (!node) return null
  const pick = (span: string): void => change({ span }, true)
  return (
    <div className={styles.split}>
      <Waterfall tree={tree} picked={node.span.span_id} pick={pick} />
      <SpanPanel key={node.span.span_id} traceId={id} node={node} />
    </div>
  )
}

function About({ tree }: { readonly tree: SpanTree }) {
  const failed = [...tree.nodes.values()].filter(({ span }) => hasFailed(span)).length
  const root = tree.roots[0]
  const { isDraft, evaluationId } = root ? dataOf(root.span) : NO_DATA
  return (
    <>
      {isDraft && <span title="What ran was not a version yet">draft</span>}
      {evaluationId !== undefined && <span>row of an evaluation</span>}
      {failed > 0 && (
        <span className={styles.failed}>
          ! {failed.toLocaleString()} {failed === 1 ? 'error' : 'errors'}
        </span>
      )}
      <span>
        {tree.nodes.size.toLocaleString()} {tree.nodes.size === 1 ? 'span' : 'spans'}
      </span>
      <span>{duration(tree.length / 1000)}</span>
      {root && <Ago date={root.span.start_time} />}
    </>
  )
}

const NO_DATA = { isDraft: false, evaluationId: undefined } as const

interface TraceActionsProps {
  readonly id: string
  readonly root: TraceSpan
  /** The span of the run. */
  readonly run: TraceSpan
}

/** The actions for a trace: keep it as a row, run its inputs again, other traces, delete. */
function TraceActions({ id, root, run }: TraceActionsProps) {
  const [isAsking, setAsking] = useState(false)
  const [isAdding, setAdding] = useState(false)
  const [added, setAdded] = useState<{ readonly testset: string; readonly version: number }>()
  const mayNotWrite = useRefusal('write')
  const cache = useQueryClient()
  const navigate = useNavigate()
  const ran = ranOf(run)
  const revision = ran?.revision?.slug
  async function remove(): Promise<void> {
    await call('DELETE /traces/{id}', { path: { id } })
    // The page is left, so the trace itself is not requested again.
    await navigate({ to: places.traces() })
    await cache.invalidateQueries({ queryKey: ['POST /traces/query'] })
  }
  useCommands([
    {
      id: 'add',
      title: 'Add the trace to a testset',
      keys: 'a',
      refusal: mayNotWrite,
      run: () => setAdding(true),
    },
  ])
  const filtered = (search: Readonly<Record<string, string>>) => ({ to: places.traces(), search })
  return (
    <>
      <p role="status" className={added ? styles.added : 'visually-hidden'}>
        {added && (
          <>
            Row added: <Link to={places.testset(added.testset)}>{added.testset}</Link> is at v{added.version}.
          </>
        )}
      </p>
      <Menu
        label="More"
        title="Actions for the trace"
        items={[
          ...(ran && revision !== undefined
            ? [{ label: `Traces of ${nameOfRun(run)}`, ...filtered({ revision }) }]
            : []),
          ...(ran
            ? [
                {
                  label: 'Earlier traces of this prompt',
                  ...filtered({ artifact: ran.slug, before: root.start_time }),
                },
              ]
            : []),
          { label: 'Delete …', refusal: mayNotWrite, run: () => setAsking(true) },
        ]}
      />
      <Button needs="write" onClick={() => setAdding(true)}>
        Add to testset …
      </Button>
      {ran && (
        <LinkButton kind="primary" to={places.run(ran.slug)} search={playgroundWith(revision, id)}>
          Open in playground
        </LinkButton>
      )}
      {isAdding && (
        <AddToTestset
          name={nameOfRun(run)}
          values={valuesOf(run)}
          added={(testset, version) => setAdded({ testset, version })}
          close={() => setAdding(false)}
        />
      )}
      {isAsking && (
        <FormDialog
          title="Delete this trace?"
          action="Delete the trace for good"
          kind="danger"
          needs="write"
          submit={remove}
          close={() => setAsking(false)}
        >
          <p>
            All its spans go, with their inputs and outputs, and cannot be restored. An evaluation keeps its
            results, but its link to this trace leads nowhere.
          </p>
        </FormDialog>
      )}
    </>
  )
}

/** The selected span: what it ran, inputs, outputs, and JSON. */
function SpanPanel({ traceId, node }: { readonly traceId: string; readonly node: SpanNode }) {
  const { view } = useAddress()
  const { span, start, end } = node
  const { span_id: id, span_name: own, span_type: type } = span
  const isRun = ranOf(span) !== undefined && dataOf(span).evaluationId === undefined
  const { tokens, cost, inputs, outputs, parameters } = dataOf(span)
  const isRaw = view === 'json'
  return (
    <section className={`card ${styles.panel}`} aria-label="The picked span" tabIndex={0}>
      <h2>
        <Fold text={isRun ? nameOfRun(span) : own} lines={2} />
      </h2>
      <p className={`row-wide muted ${styles.facts}`}>
        <span className={hasFailed(span) ? styles.failed : 'good'}>
          {hasFailed(span) ? '! failed' : '✓ succeeded'}
        </span>
        <span>{isRun ? own : type}</span>
        {start > 0 && <span title="from the beginning of the trace">after {duration(start / 1000)}</span>}
        <span>took {duration((end - start) / 1000)}</span>
        {tokens && (
          <span title={`${tokens.prompt} in, ${tokens.completion} out`}>
            {tokens.total.toLocaleString()} tokens ({tokens.prompt.toLocaleString()} in,{' '}
            {tokens.completion.toLocaleString()} out)
          </span>
        )}
        {cost !== undefined && <span title={PRICED}>{dollars(cost)}</span>}
      </p>
      <SpanLinks node={node} />
      {span.status_message !== undefined && (
        <div className={styles.error} role="group" aria-label="Why it failed">
          <Fold text={span.status_message} />
        </div>
      )}
      <LinkTabs
        label="How the span is shown"
        tabs={[
          { label: 'Inputs and outputs', to: places.trace(traceId), search: { span: id }, isHere: !isRaw },
          { label: 'JSON', to: places.trace(traceId), search: { span: id, view: 'json' }, isHere: isRaw },
        ]}
      />
      {isRaw ? (
        <JsonView value={withoutChildren(span)} />
      ) : (
        <>
          <SpanValue title="Inputs" value={unwrapped(inputs)} />
          <SpanValue title="Output" value={outputs} />
          <SpanValue title="Parameters" value={parameters} folded />
          {span.exception !== undefined && <SpanValue title="Exception" value={span.exception} />}
        </>
      )}
    </section>
  )
}

/** Child spans have their own rows. */
function withoutChildren({ spans: _, ...span }: SpanNode['span']): object {
  return span
}

/** If there are only a run's inputs, they are shown without the wrapper. */
function unwrapped(inputs: unknown): unknown {
  const { inputs: only, ...rest } = (inputs ?? {}) as Readonly<Record<string, unknown>>
  return only !== undefined && Object.keys(rest).every((name) => name === 'testcase') ? only : inputs
}

/** Links to what a span ran, its environment, row, and evaluation. */
function SpanLinks({ node: { span } }: { readonly node: SpanNode }) {
  const references = referencesOf(span)
  const ran = ranOf(span)
  const testset = references.get('testset')?.slug
  const environment = references.get('environment')?.slug
  const { evaluationId } = dataOf(span)
  const row = references.get('testcase')?.id
  if (!ran && testset === undefined && evaluationId === undefined) return null
  return (
    <p className={`row-wide muted ${styles.links}`}>
      {ran && (
        <span>
          <Link to={places.artifact(ran.slug)}>{ran.slug}</Link>
          {isKnown(ran.revision) && (
            <RevisionChip
              to={places.revision(ran.slug, ran.revision.slug)}
              version={Number(ran.revision.version)}
            />
          )}
        </span>
      )}
      {environment !== undefined && <EnvironmentDot slug={environment} />}
      {testset !== undefined && <Link to={places.testset(testset)}>{testset}</Link>}
      {evaluationId !== undefined && (
        <Link to={places.evaluation(evaluationId)} search={(row === undefined ? {} : { row }) as never}>
          Its row in the evaluation
        </Link>
      )}
    </p>
  )
}

function isKnown(revision: Named | undefined): revision is Required<Omit<Named, 'id'>> {
  return revision?.slug !== undefined && revision.version !== undefined
}

interface SpanValueProps {
  readonly title: string
  /** Undefined is not shown. */
  readonly value: unknown
  /** Closed at first. */
  readonly folded?: boolean
}

/** The input or output of a span: messages as a conversation, texts as text, other values as JSON. */
function SpanValue({ title, value, folded = false }: SpanValueProps) {
  if (value === undefined) return null
  return (
    <section className={styles.value}>
      <h3>{title}</h3>
      <Shown value={value} folded={folded} />
    </section>
  )
}

function Shown({ value, folded }: { readonly value: unknown; readonly folded: boolean }) {
  const found = folded ? undefined : messagesIn(value)
  if (found) {
    return (
      <>
        <Conversation messages={found.messages} />
        {Object.keys(found.rest).length > 0 && <JsonView value={found.rest} />}
      </>
    )
  }
  if (typeof value === 'string') {
    return (
      <div className={styles.text}>
        <Fold text={value} />
      </div>
    )
  }
  if (!folded && isRecord(value)) return <Values data={value} />
  return <JsonView value={value} depth={folded ? 0 : 3} />
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return Object.keys(membersOf(value)).length > 0
}
