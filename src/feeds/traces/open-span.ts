import { type Json, type JsonObject, fromEntries, getPath } from '../../base/json.ts'
import { randomHex } from './trace-ids.ts'
import type { Span, SpanException, SpanKind, SpanLink, SpanReference, SpanType } from './span.ts'

/** The common data of a trace's spans, and the function that records them. */
export interface TraceStart {
  /** 32 hex digits; by default a new id. */
  readonly traceId?: string | undefined
  /** 16 hex digits of the root; by default a new id. */
  readonly spanId?: string | undefined
  /** The caller's span, the parent of the root. */
  readonly parentId?: string | undefined
  readonly sessionId?: string | undefined
  readonly links?: ReadonlyMap<string, SpanLink> | undefined
  /** Whether it runs what its caller has not committed (interface 12.15). */
  readonly isDraft?: boolean | undefined
  /** Receives the whole trace when its root has ended. */
  readonly record: (spans: readonly Span[]) => void
}

/** Begins a trace with its root, which is the run of a workflow. */
export function startTrace(start: TraceStart, name: string): OpenSpan {
  return new OpenSpan(
    {
      traceId: start.traceId ?? newTraceId(),
      sessionId: start.sessionId,
      links: start.links ?? NO_LINKS,
      isDraft: start.isDraft ?? false,
      record: start.record,
      ended: [],
    },
    {
      spanId: start.spanId,
      parentId: start.parentId,
      name,
      type: 'workflow',
      kind: 'SPAN_KIND_SERVER',
      isRoot: true,
    },
  )
}

/**
 * A span during its work (interface 12.8). Values are kept without copying them. The trace is recorded when its root ends; children that
 * have not ended by then are left out.
 */
export class OpenSpan {
  readonly traceId: string
  readonly spanId: string
  readonly #trace: RunningTrace
  readonly #birth: SpanBirth
  readonly #parent: OpenSpan | undefined
  readonly #startTime = now()
  readonly #data: Record<string, Json> = {}
  #svc: Map<string, Json> | undefined
  #foreign: Map<string, Json> | undefined
  #references: ReadonlyMap<string, SpanReference> = NO_REFERENCES
  #exception: SpanException | undefined
  #message: string | undefined
  #usage: ModelUsage | undefined
  /** What ended inner spans used. */
  #usageBelow: ModelUsage | undefined
  #errorsBelow = 0
  #hasEnded = false

  /** Use `startTrace` and `child`. */
  constructor(trace: RunningTrace, birth: SpanBirth, parent?: OpenSpan) {
    this.#trace = trace
    this.#birth = birth
    this.#parent = parent
    this.traceId = trace.traceId
    this.spanId = birth.spanId ?? randomHex(8)
  }

  /** Begins an inner span. */
  child(name: string, type: SpanType = 'task', kind: SpanKind = 'SPAN_KIND_INTERNAL'): OpenSpan {
    const birth = { spanId: undefined, parentId: this.spanId, name, type, kind, isRoot: false }
    return new OpenSpan(this.#trace, birth, this)
  }

  /** `svc.data.<part>`: inputs, outputs, parameters. */
  setData(part: 'inputs' | 'outputs' | 'parameters', value: Json): this {
    this.#data[part] = value
    return this
  }

  /** `svc.<name>` for other attributes than data, metrics and references: `flags`, `selector`. */
  setAttribute(name: string, value: JsonObject): this {
    this.#svc = (this.#svc ?? new Map()).set(name, value)
    return this
  }

  /** An attribute outside `svc`, under its dotted name: `gen_ai.request.model`. */
  setForeign(name: string, value: Json): this {
    this.#foreign = (this.#foreign ?? new Map()).set(name, value)
    return this
  }

  /** What the span itself used, without inner spans: `incremental` in `svc.metrics.tokens` and `svc.metrics.costs`. */
  setUsage(usage: ModelUsage): this {
    this.#usage = usage
    return this
  }

  /** Adds the usage of a run whose spans were recorded below this one. */
  addRun(spans: readonly Span[]): this {
    for (const span of spans)
      if (span.parentId === this.spanId) this.#usageBelow = addUsage(this.#usageBelow, usageOf(span))
    return this
  }

  /** What the span and its ended inner spans used so far. */
  get usage(): ModelUsage | undefined {
    return addUsage(this.#usage, this.#usageBelow)
  }

  /** `svc.references.<name>`: an object that is run. */
  addReference(name: string, reference: SpanReference): this {
    this.#references = new Map(this.#references).set(name, reference)
    return this
  }

  /** Sets all references. Values derived from a map are cached with it, so runs of the same revision should share one map. */
  setReferences(references: ReadonlyMap<string, SpanReference>): this {
    this.#references = references
    return this
  }

  /** A sentence about a run that did not fail, such as the reason of its verdict. */
  setMessage(message: string): this {
    this.#message = message
    return this
  }

  /** Marks the span as failed. */
  fail(exception: SpanException): this {
    this.#exception = exception
    return this
  }

  /** Ends the span; the root's end records the trace. Ending it again has no effect. */
  end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const { ended, record } = this.#trace
    ended.push(this.#finished())
    if (this.#birth.isRoot) record(ended)
  }

  #finished(): Span {
    const endTime = now()
    const { traceId, sessionId, links, isDraft } = this.#trace
    const { parentId, name, type, kind } = this.#birth
    const traceType = links.size > 0 ? 'annotation' : 'invocation'
    // our own names, whose order a plain object keeps
    const svc: Record<string, Json> = {
      type: { trace: traceType, span: type },
      data: this.#data,
      metrics: this.#metrics(milliseconds(endTime - this.#startTime)),
    }
    if (this.#svc) for (const [name, value] of this.#svc) svc[name] = value
    if (sessionId !== undefined) svc['session'] = { id: sessionId }
    // On every span: a trace is found by any of its spans.
    if (isDraft) svc['draft'] = true
    return {
      traceId,
      spanId: this.spanId,
      parentId,
      traceType,
      type,
      kind,
      name,
      startTime: this.#startTime,
      endTime,
      statusCode: this.#exception ? 'STATUS_CODE_ERROR' : 'STATUS_CODE_OK',
      statusMessage: this.#exception?.message ?? this.#message,
      sessionId,
      attributes: this.#foreign ? fromEntries([['svc', svc], ...nested(this.#foreign)]) : { svc },
      references: this.#references,
      links,
      exception: this.#exception,
    }
  }

  /** Metrics (interface 12.9): `incremental` is the span's own, `cumulative` includes inner spans. Also adds them to the parent. */
  #metrics(duration: number): JsonObject {
    const metrics: Record<string, Json> = { duration: { cumulative: duration } }
    const { usage } = this
    if (usage) {
      const { tokens, costs } = this.#usage ?? {}
      metrics['tokens'] = { ...(tokens ? { incremental: tokens } : {}), cumulative: usage.tokens }
      if (usage.costs)
        metrics['costs'] = { ...(costs ? { incremental: costs } : {}), cumulative: usage.costs }
    }
    const own = this.#exception ? 1 : 0
    const errors = own + this.#errorsBelow
    if (errors > 0) metrics['errors'] = { ...(own > 0 ? { incremental: own } : {}), cumulative: errors }
    const parent = this.#parent
    if (parent) {
      parent.#usageBelow = addUsage(parent.#usageBelow, usage)
      parent.#errorsBelow += errors
    }
    return metrics
  }
}

/** What calls of models used. */
export interface ModelUsage {
  readonly tokens: Amounts
  /** In US dollars, by the prices of the catalog. Left out where one of the calls has no known price: the sum would be too small. */
  readonly costs?: Amounts | undefined
}

/** An amount for the prompt, for the reply, and for both. */
export type Amounts = Readonly<Record<'prompt' | 'completion' | 'total', number>>

/** What an ended span used, with its inner spans. */
function usageOf({ attributes }: Span): ModelUsage | undefined {
  const used = (what: string): Amounts | undefined =>
    getPath(attributes, 'svc', 'metrics', what, 'cumulative') as Amounts | undefined // as `#metrics` wrote it
  const tokens = used('tokens')
  return tokens && { tokens, costs: used('costs') }
}

/** The sum of what two used; undefined if neither called a model. */
export function addUsage(a: ModelUsage | undefined, b: ModelUsage | undefined): ModelUsage | undefined {
  if (!a || !b) return a ?? b
  return { tokens: sumOf(a.tokens, b.tokens), costs: a.costs && b.costs && addCosts(a.costs, b.costs) }
}

function addCosts(a: Amounts, b: Amounts): Amounts {
  const { prompt, completion, total } = sumOf(a, b)
  return { prompt: inDollars(prompt), completion: inDollars(completion), total: inDollars(total) }
}

/** An amount of dollars rounded to twelve decimals: calculating with binary fractions adds digits behind them. */
export function inDollars(amount: number): number {
  return Number(amount.toFixed(12))
}

function sumOf(a: Amounts, b: Amounts): Amounts {
  return {
    prompt: a.prompt + b.prompt,
    completion: a.completion + b.completion,
    total: a.total + b.total,
  }
}

interface RunningTrace {
  readonly traceId: string
  readonly sessionId: string | undefined
  readonly links: ReadonlyMap<string, SpanLink>
  readonly isDraft: boolean
  readonly record: (spans: readonly Span[]) => void
  readonly ended: Span[]
}

interface SpanBirth {
  readonly spanId: string | undefined
  readonly parentId: string | undefined
  readonly name: string
  readonly type: SpanType
  readonly kind: SpanKind
  readonly isRoot: boolean
}

const NO_LINKS: ReadonlyMap<string, SpanLink> = new Map()
const NO_REFERENCES: ReadonlyMap<string, SpanReference> = new Map()

/** Dotted names as nested members, as attributes are stored (interface 12.9). */
function nested(named: ReadonlyMap<string, Json>): readonly (readonly [string, Json])[] {
  const groups = new Map<string, Map<string, Json>>()
  const members: [string, Json][] = []
  for (const [name, value] of named) {
    const dot = name.indexOf('.')
    if (dot < 0) {
      members.push([name, value])
      continue
    }
    const group = groups.get(name.slice(0, dot)) ?? new Map<string, Json>()
    groups.set(name.slice(0, dot), group.set(name.slice(dot + 1), value))
  }
  for (const [name, group] of groups) members.push([name, fromEntries(nested(group))])
  return members
}

/** The wall clock with microseconds; `performance` never goes backwards within a span. */
function now(): number {
  return ORIGIN + performance.now()
}

/** Reading it takes longer than the rest of `now`. */
const ORIGIN = performance.timeOrigin

/** Milliseconds with three decimals, as durations are shown. */
function milliseconds(value: number): number {
  return Math.round(value * 1000) / 1000
}

/**
 * A new trace id, 32 hex digits: 48 bits of milliseconds since 1970, then 80 random bits (W3C Trace Context requires randomness in the
 * right half). Ids that grow with time are stored side by side; with random ones, each trace of a batch would write another page of the
 * index.
 */
export function newTraceId(): string {
  return Date.now().toString(16).padStart(12, '0') + randomHex(10)
}
