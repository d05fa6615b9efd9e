import { setTimeout as pause } from 'node:timers/promises'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes, type Resource } from '@opentelemetry/resources'
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace'
import type { Span, SpanException } from './traces/span.ts'
import { invalid } from '../errors.ts'
import {
  type Attributes,
  type HrTime,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type AttributeValue,
} from '@opentelemetry/api'
import {
  boundedText,
  boundedJson,
  type Json,
  ExactNumber,
  entriesOf,
  isJsonArray,
  isJsonObject,
} from '../base/json.ts'
import { withReferences } from './traces/span-record.ts'

/** Sends finished spans to the operator's collector. */
export interface OtlpExporter {
  /** Queues spans, which are sent some seconds later. Never waits, never fails. */
  export(spans: readonly Span[]): void
  /** Sends the queued spans, and gives up after three seconds. */
  close(): Promise<void>
}

/**
 * Exports spans over OTLP, configured by OpenTelemetry's own variables in `env` (see otlpSettings); undefined if they name no collector. At
 * most 32 MiB and 4,096 spans wait in memory, including those being sent; further spans, because the collector is slow or dead, are dropped.
 * `warn` gets a sentence when the trouble begins and when it ends.
 */
export function openOtlpExporter(
  env: Readonly<Record<string, string | undefined>>,
  warn: (sentence: string) => void = () => undefined,
): OtlpExporter | undefined {
  const settings = otlpSettings(env)
  if (!settings) return undefined
  const resource = resourceFromAttributes(settings.resource)
  const line = new Line(settings, warn)
  return {
    export: (spans) => {
      for (const span of spans) if (line.hasRoom()) line.add(otlpSpan(span, resource))
    },
    close: () => line.close(),
  }
}

const MAX_BYTES = 32 * 1024 * 1024
const MAX_SPANS = 4096

/** Small enough to encode without blocking other work. */
const SPANS_PER_BATCH = 256

const CLOSE_MS = 3000

/** The queue of spans. OpenTelemetry's batch processor, which is used for it, limits the number of spans but not their sizes. */
class Line {
  readonly #processor: BatchSpanProcessor
  readonly #sizes = new Map<ReadableSpan, number>()
  /** The collector's URL without possible credentials, for messages. */
  readonly #place: string
  readonly #warn: (sentence: string) => void
  #bytes = 0
  #lost = 0
  #isTroubled = false

  constructor(settings: OtlpSettings, warn: (sentence: string) => void) {
    const { origin, pathname } = new URL(settings.url)
    this.#place = `${origin}${pathname}`
    this.#warn = warn
    this.#processor = new BatchSpanProcessor({
      exporter: this.#watched(exporterOf(settings)),
      maxQueueSize: MAX_SPANS,
      maxExportBatchSize: SPANS_PER_BATCH,
      exportTimeoutMillis: 2 * settings.timeoutMs,
    })
  }

  /** Whether another span fits; if not, counts it as lost. */
  hasRoom(): boolean {
    if (this.#sizes.size < MAX_SPANS && this.#bytes < MAX_BYTES) return true
    this.#lost++
    this.#trouble('it takes spans more slowly than they are made')
    return false
  }

  add({ readable, size }: { readonly readable: ReadableSpan; readonly size: number }): void {
    this.#sizes.set(readable, size)
    this.#bytes += size
    this.#processor.onEnd(readable)
  }

  async close(): Promise<void> {
    const sent = this.#processor.shutdown().catch(() => undefined) // failures were reported by `#watched`
    const late = new AbortController()
    await Promise.race([sent, pause(CLOSE_MS, undefined, { signal: late.signal }).catch(() => undefined)])
    late.abort()
  }

  /** The exporter, which also updates the sizes and reports failures. */
  #watched(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans, done) =>
        exporter.export(spans, (result) => {
          for (const span of spans) this.#forget(span)
          if (result.error) {
            this.#lost += spans.length
            this.#trouble(result.error.message)
          } else this.#recovery()
          done(result)
        }),
      shutdown: () => exporter.shutdown(),
    }
  }

  #forget(span: ReadableSpan): void {
    this.#bytes -= this.#sizes.get(span) ?? 0
    this.#sizes.delete(span)
  }

  #trouble(reason: string): void {
    if (this.#isTroubled) return
    this.#isTroubled = true
    this.#warn(`Spans are not exported to ${this.#place}: ${reason}. They are dropped until it is better.`)
  }

  #recovery(): void {
    if (!this.#isTroubled) return
    this.#isTroubled = false
    this.#warn(`Spans are exported to ${this.#place} again; ${this.#lost} were dropped.`)
    this.#lost = 0
  }
}

function exporterOf({ url, protocol, headers, timeoutMs, compression }: OtlpSettings): SpanExporter {
  const Exporter = protocol === 'http/json' ? JsonExporter : ProtobufExporter
  return new Exporter({
    url,
    headers: { ...headers },
    timeoutMillis: timeoutMs,
    // the package's enum has these two values, but cannot be imported
    compression: compression as NonNullable<
      NonNullable<ConstructorParameters<typeof ProtobufExporter>[0]>['compression']
    >,
  })
}

interface OtlpSettings {
  readonly url: string
  readonly protocol: 'http/protobuf' | 'http/json'
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly compression: 'gzip' | 'none'
  /** The resource of all spans: `service.name` and what the operator adds. */
  readonly resource: Readonly<Record<string, string>>
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads OpenTelemetry's own variables (https://opentelemetry.io/docs/specs/otel/protocol/exporter/). Those for traces come before the common
 * ones; an empty variable counts as unset. Undefined if exporting is off, or there is neither an endpoint nor OTEL_TRACES_EXPORTER=otlp.
 * Refuses an invalid value by the name of its variable.
 */
function otlpSettings(env: Environment): OtlpSettings | undefined {
  const endpoint = read(env, ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'])
  const exporters = env['OTEL_TRACES_EXPORTER']?.split(',').map((name) => name.trim())
  const isWanted = exporters?.some((name) => name !== '')
    ? exporters.includes('otlp')
    : endpoint !== undefined
  if (!isWanted || env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true') return undefined
  return {
    url: urlOf(endpoint),
    protocol: oneOf(env, 'PROTOCOL', ['http/protobuf', 'http/json']),
    headers: {
      ...pairsOf(env, 'OTEL_EXPORTER_OTLP_HEADERS'),
      ...pairsOf(env, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'),
    },
    timeoutMs: timeoutOf(env),
    compression: oneOf(env, 'COMPRESSION', ['none', 'gzip']),
    resource: {
      'service.name': 'branchpoint',
      ...pairsOf(env, 'OTEL_RESOURCE_ATTRIBUTES'),
      ...(env['OTEL_SERVICE_NAME']?.trim() ? { 'service.name': env['OTEL_SERVICE_NAME'].trim() } : {}),
    },
  }
}

interface Variable {
  readonly name: string
  readonly value: string
}

/** The first of the variables that is set. */
function read(env: Environment, names: readonly string[]): Variable | undefined {
  for (const name of names) {
    const value = env[name]?.trim()
    if (value) return { name, value }
  }
  return undefined
}

function ofTraces(env: Environment, setting: string): Variable | undefined {
  return read(env, [`OTEL_EXPORTER_OTLP_TRACES_${setting}`, `OTEL_EXPORTER_OTLP_${setting}`])
}

/** The endpoint for traces is used unchanged; the path of traces is appended to the common endpoint. */
function urlOf(endpoint: Variable | undefined): string {
  if (!endpoint) return 'http://localhost:4318/v1/traces'
  const { name, value } = endpoint
  if (!URL.canParse(value) || !/^https?:/i.test(value))
    throw invalid([name], `this is not an http or https URL; give one such as http://localhost:4318.`)
  if (name.includes('TRACES')) return new URL(value).href
  return `${value.replace(/\/+$/, '')}/v1/traces`
}

/** The value of a setting; by default the first of `values`. Refuses other values. */
function oneOf<const T extends string>(env: Environment, setting: string, values: readonly [T, ...T[]]): T {
  const given = ofTraces(env, setting)
  if (!given) return values[0]
  const found = values.find((value) => value === given.value)
  if (found !== undefined) return found
  throw invalid(
    [given.name],
    `${JSON.stringify(given.value)} is not supported; use one of ${values.join(', ')}.`,
  )
}

function timeoutOf(env: Environment): number {
  const given = ofTraces(env, 'TIMEOUT')
  if (!given) return 10_000
  if (/^[0-9]{1,6}$/.test(given.value) && Number(given.value) > 0) return Number(given.value)
  throw invalid(
    [given.name],
    `${JSON.stringify(given.value)} is not a number of milliseconds from 1 to 999999.`,
  )
}

/** Parses `key=value,key=value` with percent-encoded keys and values. Values may be credentials, so messages do not show them. */
function pairsOf(env: Environment, name: string): Record<string, string> {
  const pairs: Record<string, string> = {}
  for (const pair of (env[name] ?? '').split(',')) {
    if (pair.trim() === '') continue
    const [, key, value] = /^\s*([^=\s]+)\s*=(.*)$/s.exec(pair) ?? []
    try {
      if (key === undefined || value === undefined) throw new URIError()
      pairs[decodeURIComponent(key)] = decodeURIComponent(value.trim())
    } catch {
      throw invalid([name], 'this is not a list key=value,key=value with keys and values percent-encoded.')
    }
  }
  return pairs
}

/** A span in the form of OpenTelemetry's exporters. */
interface OtlpSpan {
  readonly readable: ReadableSpan
  /** Its approximate memory, in bytes. */
  readonly size: number
}

/**
 * Converts a finished span to OpenTelemetry's form, and keeps only what is exported. The exception becomes an event
 * (https://opentelemetry.io/docs/specs/semconv/exceptions/exceptions-spans/) and `error.type`.
 */
function otlpSpan(span: Span, resource: Resource): OtlpSpan {
  const { attributes, size, dropped } = otlpAttributes(withReferences(span))
  const { traceId, spanId, parentId, exception, kind } = span
  const context = contextOf(traceId, spanId)
  const startTime = hrTime(span.startTime)
  const endTime = hrTime(span.endTime)
  const happened = exception ? exceptionAttributes(exception) : undefined
  const readable: ReadableSpan = {
    name: nameOf(span.name, attributes),
    kind: KINDS[kind],
    spanContext: () => context,
    ...(parentId === undefined
      ? {}
      : { parentSpanContext: contextOf(traceId, parentId, kind === 'SPAN_KIND_SERVER') }),
    startTime,
    endTime,
    duration: hrTime(span.endTime - span.startTime),
    ended: true,
    status: statusOf(span),
    attributes: exception ? { ...attributes, 'error.type': exception.type } : attributes,
    events: happened ? [{ name: 'exception', time: endTime, attributes: happened }] : [],
    links: [...span.links].map(([key, link]) => ({
      context: contextOf(link.traceId, link.spanId, true),
      attributes: { key },
    })),
    resource,
    instrumentationScope: SCOPE,
    droppedAttributesCount: dropped,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
  return {
    readable,
    size: BYTES_OF_OBJECTS + 2 * (size + (happened ? 2 * JSON.stringify(happened).length : 0)),
  }
}

const SCOPE = { name: 'branchpoint' }

/** The approximate bytes of a span's objects, without its texts. */
const BYTES_OF_OBJECTS = 2048

const KINDS: Readonly<Record<Span['kind'], SpanKind>> = {
  SPAN_KIND_UNSPECIFIED: SpanKind.INTERNAL,
  SPAN_KIND_INTERNAL: SpanKind.INTERNAL,
  SPAN_KIND_SERVER: SpanKind.SERVER,
  SPAN_KIND_CLIENT: SpanKind.CLIENT,
  SPAN_KIND_PRODUCER: SpanKind.PRODUCER,
  SPAN_KIND_CONSUMER: SpanKind.CONSUMER,
}

/** The GenAI conventions name a model call after its model; in our own traces, names are keys and do not depend on the model. */
function nameOf(name: string, attributes: Attributes): string {
  const { 'gen_ai.operation.name': operation, 'gen_ai.request.model': model } = attributes
  return operation === undefined || model === undefined ? name : `${String(operation)} ${String(model)}`
}

function contextOf(traceId: string, spanId: string, isRemote = false): SpanContext {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote }
}

/** Seconds and nanoseconds, from milliseconds with microsecond precision. */
function hrTime(milliseconds: number): HrTime {
  const microseconds = Math.round(milliseconds * 1000)
  return [Math.floor(microseconds / 1e6), (microseconds % 1e6) * 1000]
}

function statusOf({ statusCode, statusMessage }: Span): ReadableSpan['status'] {
  if (statusCode === 'STATUS_CODE_OK') return { code: SpanStatusCode.OK }
  return { code: SpanStatusCode.ERROR, message: boundedText(statusMessage ?? '', MAX_CHARACTERS_OF_TEXT) }
}

function exceptionAttributes({ type, message, stacktrace }: SpanException): Attributes {
  return {
    'exception.type': type,
    'exception.message': boundedText(message, MAX_CHARACTERS_OF_TEXT),
    ...(stacktrace
      ? { 'exception.stacktrace': boundedText(stacktrace.join('\n'), MAX_CHARACTERS_OF_TEXT) }
      : {}),
  }
}

/** The maximum length of a text attribute, in characters. The whole text is in our own store. */
const MAX_CHARACTERS_OF_TEXT = 16 * 1024

const MAX_ATTRIBUTES = 256

interface OtlpAttributes {
  readonly attributes: Attributes
  /** The approximate number of characters. */
  readonly size: number
  readonly dropped: number
}

/**
 * The attributes of a span, flattened to names with dots: members of objects become single attributes, but inputs, outputs and parameters
 * (`svc.data.*`) are one JSON text each, or the text itself. Long texts are truncated, and attributes after the first 256 are dropped. Names
 * that already have dots (`gen_ai.request.model`) stay.
 */
function otlpAttributes(nested: Json): OtlpAttributes {
  const flat = new Map<string, AttributeValue>()
  let size = 0
  let dropped = 0
  const flatten = (name: string, value: Json) => {
    if (flat.size >= MAX_ATTRIBUTES) return void dropped++
    const isData = name.startsWith('svc.data.')
    if (isJsonObject(value) && !isData) {
      for (const [key, member] of entriesOf(value)) flatten(`${name}.${boundedText(key, 256)}`, member)
    } else if (value !== null || isData) {
      const attribute = attributeValue(value)
      flat.set(name, attribute)
      size += name.length + lengthOf(attribute)
    }
  }
  if (isJsonObject(nested)) for (const [name, value] of entriesOf(nested)) flatten(name, value)
  return { attributes: Object.fromEntries(flat), size, dropped }
}

function attributeValue(value: Json): AttributeValue {
  if (typeof value === 'string') return boundedText(value, MAX_CHARACTERS_OF_TEXT)
  if (typeof value === 'boolean') return value
  const number = value instanceof ExactNumber ? Number(value.literal) : value
  // Integers are exported with 64 bits; other numbers are exported as written.
  if (Number.isSafeInteger(number) || (Number.isFinite(number) && !Number.isInteger(number)))
    return number as number // only a number is either
  if (isJsonArray(value) && value.length <= MAX_ATTRIBUTES && value.every((item) => typeof item === 'string'))
    return value.map((item) => boundedText(item, 1024))
  return boundedJson(value, MAX_CHARACTERS_OF_TEXT)
}

function lengthOf(value: AttributeValue): number {
  if (typeof value === 'string') return value.length
  return Array.isArray(value) ? JSON.stringify(value).length : 8
}
