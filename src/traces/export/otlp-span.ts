import type { Attributes, HrTime, SpanContext } from '@opentelemetry/api'
import { SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api'
import type { Resource } from '@opentelemetry/resources'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { boundedText } from '../../json/json-values.ts'
import { withReferences } from '../references-json.ts'
import type { Span, SpanException } from '../span.ts'
import { MAX_TEXT, otlpAttributes } from './otlp-attributes.ts'

/** A span as OpenTelemetry's exporters take it. */
export interface OtlpSpan {
  readonly readable: ReadableSpan
  /** How many bytes of memory it holds, roughly. */
  readonly size: number
}

/**
 * Turns a finished span into one of OpenTelemetry's, with nothing of it kept but what is exported. The exception is an event
 * (https://opentelemetry.io/docs/specs/semconv/exceptions/exceptions-spans/) and `error.type`.
 */
export function otlpSpan(span: Span, resource: Resource): OtlpSpan {
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
  return { readable, size: OVERHEAD + 2 * (size + (happened ? 2 * JSON.stringify(happened).length : 0)) }
}

const SCOPE = { name: 'branchpoint' }

/** The objects that a span is made of, beside its texts. */
const OVERHEAD = 2048

const KINDS: Readonly<Record<Span['kind'], SpanKind>> = {
  SPAN_KIND_UNSPECIFIED: SpanKind.INTERNAL,
  SPAN_KIND_INTERNAL: SpanKind.INTERNAL,
  SPAN_KIND_SERVER: SpanKind.SERVER,
  SPAN_KIND_CLIENT: SpanKind.CLIENT,
  SPAN_KIND_PRODUCER: SpanKind.PRODUCER,
  SPAN_KIND_CONSUMER: SpanKind.CONSUMER,
}

/** A call of a model is named after it, as the GenAI conventions want; in our own traces names are keys, and the same for all models. */
function nameOf(name: string, attributes: Attributes): string {
  const { 'gen_ai.operation.name': operation, 'gen_ai.request.model': model } = attributes
  return operation === undefined || model === undefined ? name : `${String(operation)} ${String(model)}`
}

function contextOf(traceId: string, spanId: string, isRemote = false): SpanContext {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote }
}

/** Seconds and nanoseconds of milliseconds, which are good to the microsecond. */
function hrTime(milliseconds: number): HrTime {
  const microseconds = Math.round(milliseconds * 1000)
  return [Math.floor(microseconds / 1e6), (microseconds % 1e6) * 1000]
}

function statusOf({ statusCode, statusMessage }: Span): ReadableSpan['status'] {
  if (statusCode === 'STATUS_CODE_OK') return { code: SpanStatusCode.OK }
  return { code: SpanStatusCode.ERROR, message: boundedText(statusMessage ?? '', MAX_TEXT) }
}

function exceptionAttributes({ type, message, stacktrace }: SpanException): Attributes {
  return {
    'exception.type': type,
    'exception.message': boundedText(message, MAX_TEXT),
    ...(stacktrace ? { 'exception.stacktrace': boundedText(stacktrace.join('\n'), MAX_TEXT) } : {}),
  }
}
