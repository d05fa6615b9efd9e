import {
  entriesOf,
  fromEntries,
  getKey,
  getPath,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
  stringifyJson,
  withKey,
} from '../../base/json.ts'
import { containsJson } from '../../base/diff.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { invalid, Refusal } from '../../errors.ts'
import type { ProjectTraces } from './project-traces.ts'
import { MOST_RECORD_LEVELS, noSuchPlace, traceQuestion, type TraceWindow } from './query/trace-page.ts'
import { tooSlow } from './query/trace-reader.ts'
import { type SpanRow, type StoredSpan, storedSpan } from './span-record.ts'
import type { Span, SpanReference } from './span.ts'
import { newTraceId } from './open-span.ts'
import { randomHex } from './trace-ids.ts'

/** What somebody says of a trace (interface 12.18). */
export interface NewAnnotation {
  /** By default a new one. */
  readonly id?: string | undefined
  readonly traceId: string
  /** The span of the trace that it is about, if not all of it. */
  readonly spanId: string | undefined
  readonly outputs: JsonObject
  /** The evaluator by whose schema it was made: artifact, variant and revision by name. */
  readonly references: ReadonlyMap<string, SpanReference>
  /** The id of the principal. */
  readonly by: string
}

export interface Annotation extends Omit<NewAnnotation, 'id'> {
  /** That of its own trace. */
  readonly id: string
  readonly createdAt: string
  readonly retractedAt: string | undefined
}

/** What annotations are asked for. */
export interface AnnotationFilter {
  readonly traceId?: string | undefined
  /** The evaluator, by id or slug. */
  readonly evaluator?: SpanReference | undefined
  /** Values that the outputs have. */
  readonly outputs?: JsonObject | undefined
}

export interface AnnotationPage {
  readonly annotations: readonly Annotation[]
  readonly next: string | undefined
}

/** What a key that is limited to folders sees (interface 18.8). */
export interface AnnotationLimit {
  /** Its traces. */
  readonly traces: ProjectTraces
  readonly seesId: (id: string) => boolean
}

/**
 * The annotations of a project's traces. Each is a trace of its own, with a link to the one that it is about. A copy of it lies in an index,
 * where it is a span of that one: so those of a trace are found at once, however many traces there are (decision 56).
 */
export class ProjectAnnotations {
  readonly #traces: ProjectTraces
  readonly #index: ProjectTraces
  readonly #now: () => Date
  readonly #limit: AnnotationLimit | undefined

  constructor(traces: ProjectTraces, index: ProjectTraces, now: () => Date, limit?: AnnotationLimit) {
    this.#traces = traces
    this.#index = index
    this.#now = now
    this.#limit = limit
  }

  /** Stores an annotation; resolves when it is stored. Refuses with `trace_not_found` or `span_not_found`. */
  async add({ id = newTraceId(), ...said }: NewAnnotation): Promise<Annotation> {
    const spans = await (this.#limit?.traces ?? this.#traces).read([said.traceId])
    if (spans.length === 0)
      throw new Refusal('trace_not_found', `There is no trace with the id ${said.traceId} to annotate.`)
    if (said.spanId !== undefined && !spans.some((it) => it.span_id === said.spanId))
      throw new Refusal(
        'span_not_found',
        `The trace ${said.traceId} has no span with the id ${said.spanId}. Leave "span_id" out to annotate all of it.`,
      )
    if (isAnnotation(recordOf(spans[0] as SpanRow)))
      // there is one, see above
      throw invalid(
        ['body', 'annotation', 'trace_id'],
        `${said.traceId} is an annotation itself; name the trace that it is about`,
      )
    // Two of one millisecond have an order, too.
    lastTime = Math.max(this.#now().getTime(), lastTime + MICROSECOND)
    const at = { spanId: randomHex(8), time: lastTime }
    const about = { traceId: said.traceId, spanId: said.spanId ?? spans[0]?.span_id ?? '' }
    await this.#traces.write([rowOf(said, at, { traceId: id, link: ['invocation', about] })])
    const own = { traceId: id, spanId: at.spanId }
    const copy = rowOf(said, at, {
      traceId: said.traceId,
      link: ['annotation', own],
      parentId: said.spanId,
    })
    await this.#index.write([copy])
    return annotationIn(copy)
  }

  /** An annotation by its id, also a retracted one. Refuses with `annotation_not_found`. */
  async get(id: string): Promise<Annotation> {
    return annotationIn(await this.#copyOf(id))
  }

  /** Leaves an annotation out of lists, filters and columns from now on. */
  async retract(id: string): Promise<Annotation> {
    const copy = await this.#copyOf(id)
    if (annotationIn(copy).retractedAt !== undefined) return annotationIn(copy)
    const at = this.#now().toISOString()
    const [own] = await this.#traces.read([id])
    const retracted = retractedRow(copy, at)
    await this.#index.write([retracted])
    if (own) await this.#traces.write([retractedRow(own, at)])
    return annotationIn(retracted)
  }

  /** Those of these traces that are not retracted, the newest first. */
  async of(traceIds: readonly string[]): Promise<ReadonlyMap<string, readonly Annotation[]>> {
    const found = new Map<string, Annotation[]>()
    const rows = traceIds.length === 0 ? [] : await this.#index.read(traceIds)
    for (const annotation of (await this.#seen(rows.map(annotationIn))).toReversed()) {
      if (annotation.retractedAt !== undefined) continue
      const { traceId } = annotation
      found.set(traceId, [...(found.get(traceId) ?? []), annotation])
    }
    return found
  }

  /** A page of those that are not retracted, the newest first unless the window says otherwise. */
  async query(
    asked: AnnotationFilter,
    { limit, ...window }: TraceWindow,
    signal: AbortSignal,
  ): Promise<AnnotationPage> {
    const annotations: Annotation[] = []
    const filtering = filteringOf(asked)
    const [begin] = window.next?.split('.') ?? []
    // That of one which is not seen would tell that it is there.
    if (begin !== undefined && this.#limit && (await this.#limit.traces.read([begin])).length === 0)
      throw noSuchPlace(window.next ?? '')
    const slice = this.#sliceOf(signal)
    for (let { next } = window; ; await slice.rest()) {
      const left = limit === undefined ? undefined : limit - annotations.length
      const question = traceQuestion('span', filtering, { ...window, limit: left, next })
      const page = await this.#index.query(question, signal)
      const seen = await this.#seen(page.spans.map(annotationIn))
      for (const it of seen) annotations.push(it)
      if (page.next === undefined) return { annotations, next: undefined }
      const last = page.spans.findLast((row) => seen.some(({ id }) => id === annotationIn(row).id))
      if (annotations.length === limit && last)
        return { annotations, next: `${last.trace_id}.${last.span_id}` }
      next = page.next
    }
  }

  /**
   * The traces whose newest annotation with these outputs' members has exactly these values in them; only of annotations from `oldest` on, in
   * microseconds. Refuses with `query_too_broad` if there are too many.
   */
  async annotated(
    outputs: JsonObject,
    oldest: number | undefined,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const names = entriesOf(outputs).map(([name]) => name)
    if (names.length === 0) throw invalid(['body', 'annotated'], 'names no member of outputs', 'missing')
    const conditions = names.map((name) => attribute(`data.outputs.${name}`, 'exists'))
    const filtering = { value: { conditions: [NOT_RETRACTED, ...conditions] }, loc: ['body', 'annotated'] }
    const wanted = new Map<string, boolean>()
    const slice = this.#sliceOf(signal)
    for (let next: string | undefined; ; await slice.rest()) {
      const page = await this.#index.query(traceQuestion('span', filtering, { oldest, next }), signal)
      for (const annotation of await this.#seen(page.spans.map(annotationIn))) {
        if (wanted.has(annotation.traceId)) continue
        wanted.set(annotation.traceId, containsJson(annotation.outputs, outputs))
      }
      const ids = [...wanted].flatMap(([id, is]) => (is ? id : []))
      if (ids.length > MOST_ANNOTATED) throw tooMany()
      if (page.next === undefined) return ids
      next = page.next
    }
  }

  /** Removes what was said of a trace that is removed. If that was an annotation, what it said is forgotten. */
  async forget(traceId: string, annotation: Annotation | undefined): Promise<void> {
    if (annotation) {
      const rows = await this.#index.read([annotation.traceId])
      const others = rows.filter((row) => annotationIn(row).id !== traceId)
      await this.#index.remove(annotation.traceId)
      if (others.length > 0) await this.#index.write(others.map((row) => storedRow(row)))
    }
    const rows = await this.#index.read([traceId])
    if (rows.length === 0) return
    for (const row of rows) await this.#traces.remove(annotationIn(row).id)
    await this.#index.remove(traceId)
  }

  /** A query ends with its client, and after the time that a query of traces has. */
  #sliceOf(signal: AbortSignal): TimeSlice {
    const { queryMs } = this.#index
    return new TimeSlice(signal, () => tooSlow(queryMs), queryMs)
  }

  /** The copy in the index, if the caller sees it. */
  async #copyOf(id: string): Promise<SpanRow> {
    const [own] = await this.#traces.read([id])
    const about = own && isAnnotation(recordOf(own)) ? linkIn(recordOf(own), 'invocation') : undefined
    const rows = about ? await this.#index.read([about]) : []
    const copy = rows.find((row) => annotationIn(row).id === id)
    if (copy && (await this.#seen([annotationIn(copy)])).length > 0) return copy
    throw new Refusal(
      'annotation_not_found',
      `There is no annotation with the id ${id}. List them with POST /annotations/query.`,
    )
  }

  /** Of these, what the caller sees: an annotation is seen with its trace, unless it names something else. */
  async #seen(annotations: readonly Annotation[]): Promise<readonly Annotation[]> {
    const limit = this.#limit
    if (!limit || annotations.length === 0) return annotations
    const ids = [...new Set(annotations.map(({ traceId }) => traceId))]
    const traces = new Set((await limit.traces.read(ids)).map(({ trace_id: id }) => id))
    return annotations.filter(
      ({ traceId, references }) =>
        traces.has(traceId) &&
        [...references.values()].every(({ id }) => id !== undefined && limit.seesId(id)),
    )
  }
}

let lastTime = 0
const MICROSECOND = 0.001

/** A filter may hold 10,000 values. */
const MOST_ANNOTATED = 9000

function tooMany(): Refusal {
  return new Refusal(
    'query_too_broad',
    `More than ${MOST_ANNOTATED} traces are annotated so. Narrow the query with windowing.oldest.`,
  )
}

/** What tells the trace of an annotation from that of a run that judges another one: its root is no workflow. */
export function isAnnotation(record: JsonObject): boolean {
  const is = (name: string, value: string): boolean => getKey(record, name) === value
  return is('trace_type', 'annotation') && is('span_type', 'task') && is('span_name', 'annotation')
}

/** The condition that each span but that of an annotation fulfils. */
export const NO_ANNOTATION: JsonObject = {
  operator: 'nand',
  conditions: [
    { field: 'trace_type', value: 'annotation' },
    { field: 'span_type', value: 'task' },
    { field: 'span_name', value: 'annotation' },
  ],
}

/** The trace that a record links to under a name. */
export function linkIn(record: JsonObject, key: string): string | undefined {
  const links = getKey(record, 'links')
  const link = (isJsonArray(links) ? links : []).find((it) => getPath(it, 'attributes', 'key') === key)
  const id = isJsonObject(link) ? getKey(link, 'trace_id') : undefined
  return typeof id === 'string' ? id : undefined
}

/** Where a span of an annotation is stored, and what it links to. */
interface Place {
  readonly traceId: string
  readonly link: readonly [string, { readonly traceId: string; readonly spanId: string }]
  readonly parentId?: string | undefined
}

function rowOf(
  { outputs, references, by }: Omit<NewAnnotation, 'id'>,
  { spanId, time }: { readonly spanId: string; readonly time: number },
  { traceId, link, parentId }: Place,
): StoredSpan {
  const svc = fromEntries([
    ['type', { trace: 'annotation', span: 'task' }],
    ['data', { outputs }],
    ['flags', { is_feedback: true }],
    ['user', { id: by }],
  ])
  const span: Span = {
    ...{ traceId, spanId, parentId, traceType: 'annotation', type: 'task', kind: 'SPAN_KIND_INTERNAL' },
    ...{ name: 'annotation', startTime: time, endTime: time, statusCode: 'STATUS_CODE_OK' },
    ...{ statusMessage: undefined, sessionId: undefined, exception: undefined },
    attributes: { svc },
    references,
    links: new Map([link]),
  }
  return storedSpan(span, time)
}

function recordOf({ record }: SpanRow): JsonObject {
  return parseJson(record, { maxDepth: MOST_RECORD_LEVELS }) as JsonObject // a record is an object
}

/** The annotation that a span of the index is. */
function annotationIn(row: SpanRow): Annotation {
  const record = recordOf(row)
  const svc = getPath(record, 'attributes', 'svc')
  const text = (value: Json | undefined): string | undefined =>
    typeof value === 'string' ? value : undefined
  const outputs = getPath(svc, 'data', 'outputs')
  const references = getPath(svc, 'references')
  const start = text(getKey(record, 'start_time')) ?? ''
  return {
    id: linkIn(record, 'annotation') ?? '',
    traceId: row.trace_id,
    spanId: text(getKey(record, 'parent_id')),
    outputs: isJsonObject(outputs) ? outputs : {},
    references: new Map(
      (isJsonObject(references) ? entriesOf(references) : []) as [string, SpanReference][], // as they were stored
    ),
    by: text(getPath(svc, 'user', 'id')) ?? '',
    createdAt: start,
    retractedAt: text(getPath(svc, 'retracted_at')),
  }
}

/** A read row with its columns. */
function storedRow(row: SpanRow, record = recordOf(row)): StoredSpan {
  const text = (name: string): string => String(getKey(record, name))
  return {
    ...row,
    ...{ trace_type: text('trace_type'), span_type: text('span_type'), span_kind: text('span_kind') },
    ...{ start_time: text('start_time'), end_time: text('end_time'), status_code: text('status_code') },
    session_id: null,
    record: stringifyJson(record),
  }
}

function retractedRow(row: SpanRow, at: string): StoredSpan {
  const record = recordOf(row)
  const attributes = getKey(record, 'attributes') as JsonObject // as `rowOf` has made them
  const svc = getKey(attributes, 'svc') as JsonObject
  return storedRow(
    row,
    withKey(record, 'attributes', withKey(attributes, 'svc', withKey(svc, 'retracted_at', at))),
  )
}

function attribute(name: string, operator: string, value?: Json): JsonObject {
  const condition = { field: 'attributes', key: `svc.${name}`, operator }
  return value === undefined ? condition : { ...condition, value }
}

const NOT_RETRACTED = attribute('retracted_at', 'not_exists')

function filteringOf({ traceId, evaluator, outputs }: AnnotationFilter): { value: Json; loc: string[] } {
  const conditions: JsonObject[] = [NOT_RETRACTED]
  if (traceId !== undefined) conditions.push({ field: 'trace_id', value: traceId })
  if (outputs) conditions.push(attribute('data.outputs', 'is', outputs))
  if (evaluator) {
    const { id, slug } = evaluator
    const named = { ...(id === undefined ? {} : { id }), ...(slug === undefined ? {} : { slug }) }
    const value = [{ ...named, attributes: { key: 'evaluator' } }]
    conditions.push({ field: 'references', operator: 'in', value })
  }
  return { value: { conditions }, loc: ['body', 'annotation'] }
}
