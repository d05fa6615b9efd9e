import type { Answer } from '../../api/call.ts'
import { membersOf } from '../../api/json.ts'
import { costIn } from '../text/text.tsx'
import { messagesIn, saidIn } from '../conversation/read-messages.ts'
import { versionName } from '../evaluation/evaluation.tsx'

type TraceRecord = Answer<'GET /traces/{id}'>['trace']

/** A span of a trace. */
export type TraceSpan = Extract<TraceRecord['spans'][string], { readonly span_id: string }>

/** A span in the tree. Times are microseconds since the start of the trace. */
export interface SpanNode {
  readonly span: TraceSpan
  readonly level: number
  readonly parent: SpanNode | undefined
  readonly children: readonly SpanNode[]
  readonly start: number
  readonly end: number
}

/** A trace as a tree. */
export interface SpanTree {
  readonly roots: readonly SpanNode[]
  /** By span id, in display order. */
  readonly nodes: ReadonlyMap<string, SpanNode>
  /** The duration of the trace in microseconds; at least 1. */
  readonly length: number
}

/** Builds the tree of a trace's spans, which may be nested thousands of levels deep. */
export function spanTree(spans: TraceRecord['spans']): SpanTree {
  const begin = microseconds(spansIn(spans)[0]?.start_time ?? '')
  const roots: MutableNode[] = []
  const waiting = spansIn(spans).map((span) => nodeOf(span, undefined, begin, roots))
  const made: MutableNode[] = []
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    made.push(node)
    for (const span of spansIn(node.span.spans)) waiting.push(nodeOf(span, node, begin, node.children))
  }
  let last = 1
  for (const { end } of made) last = Math.max(last, end)
  return { roots, nodes: inOrder(roots), length: last }
}

type MutableNode = SpanNode & { readonly children: MutableNode[] }

function nodeOf(
  span: TraceSpan,
  parent: MutableNode | undefined,
  begin: number,
  siblings: MutableNode[],
): MutableNode {
  const start = Math.max(0, microseconds(span.start_time) - begin)
  const node = {
    span,
    level: (parent?.level ?? 0) + 1,
    parent,
    children: [],
    start,
    end: Math.max(start, microseconds(span.end_time) - begin),
  }
  siblings.push(node)
  return node
}

/** Siblings, sorted by their start. */
function spansIn(spans: unknown): readonly TraceSpan[] {
  const named = (spans ?? {}) as Readonly<Record<string, TraceSpan | readonly TraceSpan[]>>
  return Object.values(named)
    .flat()
    .sort((left, right) =>
      left.start_time < right.start_time ? -1 : left.start_time > right.start_time ? 1 : 0,
    )
}

function inOrder(roots: readonly SpanNode[]): ReadonlyMap<string, SpanNode> {
  return new Map(visibleNodes(roots, NONE).map((node) => [node.span.span_id, node]))
}

const NONE: ReadonlySet<string> = new Set()

/** The visible spans, without those below `closed` ones. */
export function visibleNodes(roots: readonly SpanNode[], closed: ReadonlySet<string>): readonly SpanNode[] {
  const shown: SpanNode[] = []
  const waiting = [...roots].reverse()
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    shown.push(node)
    if (!closed.has(node.span.span_id)) for (const child of node.children.toReversed()) waiting.push(child)
  }
  return shown
}

/** Whether the span failed. */
export function hasFailed({ status_code: status }: TraceSpan): boolean {
  return status === 'STATUS_CODE_ERROR'
}

/** A time as microseconds since 1970: JavaScript's dates drop them. */
function microseconds(time: string): number {
  const [, whole = '', fraction = ''] = /^(.*?)(?:\.(\d+))?Z$/.exec(time) ?? []
  return Date.parse(`${whole}Z`) * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6))
}

/** Our data of a span: `attributes.svc`. */
interface SpanData {
  readonly inputs: unknown
  readonly outputs: unknown
  readonly parameters: unknown
  readonly tokens: Tokens | undefined
  /** In US dollars, with the spans below it; undefined where a price is unknown. */
  readonly cost: number | undefined
  /** The time from its start to its end, in milliseconds. */
  readonly took: number
  /** The number of failed spans, this one and those below it. */
  readonly errors: number
  readonly evaluationId: string | undefined
  /** Whether what ran came with the request instead of from a version. */
  readonly isDraft: boolean
}

/** The tokens of a span and of those below it. */
interface Tokens {
  readonly prompt: number
  readonly completion: number
  readonly total: number
}

/** Reads the attributes of a span; those of other producers may have any shape. */
export function dataOf(span: TraceSpan): SpanData {
  const svc = membersOf(span.attributes['svc'])
  const data = membersOf(svc['data'])
  const metrics = membersOf(svc['metrics'])
  const { prompt, completion, total } = membersOf(membersOf(metrics['tokens'])['cumulative'])
  const { cumulative: errors } = membersOf(metrics['errors'])
  const { evaluation_id: evaluationId } = membersOf(svc['tags'])
  return {
    inputs: data['inputs'],
    outputs: data['outputs'],
    parameters: data['parameters'],
    tokens:
      typeof total === 'number'
        ? { prompt: Number(prompt ?? 0), completion: Number(completion ?? 0), total }
        : undefined,
    cost: costIn(membersOf(metrics['costs'])['cumulative']),
    took: Math.max(0, Date.parse(span.end_time) - Date.parse(span.start_time)) || 0,
    errors: typeof errors === 'number' ? errors : hasFailed(span) ? 1 : 0,
    evaluationId: typeof evaluationId === 'string' ? evaluationId : undefined,
    isDraft: svc['draft'] === true,
  }
}

/** A reference of a span. */
export interface Named {
  readonly id?: string
  readonly slug?: string
  readonly version?: number | string
}

/** The references of a span, by key. */
export function referencesOf({ references = [] }: TraceSpan): ReadonlyMap<string, Named> {
  return new Map(references.map(({ attributes, ...named }) => [attributes.key, named]))
}

/** The artifact that a span ran, with its revision: as a prompt or evaluator, if it is one. */
export function ranOf(
  span: TraceSpan,
): { readonly slug: string; readonly revision: Named | undefined } | undefined {
  const references = referencesOf(span)
  for (const surface of ['application', 'evaluator', 'workflow']) {
    const slug = references.get(surface)?.slug
    if (slug !== undefined) return { slug, revision: references.get(`${surface}_revision`) }
  }
  return undefined
}

/** The first span of a trace: in a list, the only one. */
export function headIn(spans: TraceRecord['spans']): TraceSpan | undefined {
  return Object.values(spans).flat()[0] as TraceSpan | undefined
}

/** What a trace is called: the prompt and the version that ran, `echo v3`; the span's own name if it ran none. */
export function nameOfRun(span: TraceSpan): string {
  const ran = ranOf(span)
  if (!ran) return span.span_name
  const { slug: revision, version } = ran.revision ?? {}
  if (dataOf(span).isDraft) return `${ran.slug}, a draft`
  if (revision === undefined || version === undefined) return ran.slug
  return versionName({ artifact_slug: ran.slug, revision_slug: revision, version: Number(version) })
}

/** The variables, messages and outputs of a run, without what wraps them. */
export interface RunValues {
  readonly inputs: Readonly<Record<string, unknown>>
  /** Text if it is one: what a message says. */
  readonly output: unknown
}

/** The inputs and the output of a span, as they are shown, and kept as a row. */
export function valuesOf(span: TraceSpan): RunValues {
  const { inputs, outputs } = dataOf(span)
  const { inputs: variables, messages } = membersOf(inputs)
  const given = membersOf(variables ?? inputs)
  const found = messagesIn(outputs)
  const isText = found?.messages.length === 1 && Object.keys(found.rest).length === 0
  return {
    inputs: Array.isArray(messages) && messages.length > 0 ? { ...given, messages } : given,
    output: isText ? saidIn(outputs) : outputs,
  }
}
