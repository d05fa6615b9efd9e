import type { Json, JsonObject } from '../json/json.ts'

/** What a span may be of (interface 12.9). */
export const SPAN_TYPES = [
  'agent',
  'chain',
  'workflow',
  'task',
  'tool',
  'embedding',
  'query',
  'llm',
  'completion',
  'chat',
  'rerank',
  'unknown',
] as const

/** What a span is of. */
export type SpanType = (typeof SPAN_TYPES)[number]

/** On which side of a call a span is, in OpenTelemetry's words. */
export type SpanKind =
  | 'SPAN_KIND_UNSPECIFIED'
  | 'SPAN_KIND_INTERNAL'
  | 'SPAN_KIND_SERVER'
  | 'SPAN_KIND_CLIENT'
  | 'SPAN_KIND_PRODUCER'
  | 'SPAN_KIND_CONSUMER'

/** A finished span (interface 12.9), as it is stored and exported. */
export interface Span {
  /** 32 hex digits. */
  readonly traceId: string
  /** 16 hex digits. */
  readonly spanId: string
  readonly parentId: string | undefined
  readonly traceType: 'invocation' | 'annotation'
  readonly type: SpanType
  readonly kind: SpanKind
  readonly name: string
  /** Milliseconds since 1970, with a fraction. */
  readonly startTime: number
  readonly endTime: number
  readonly statusCode: 'STATUS_CODE_OK' | 'STATUS_CODE_ERROR'
  readonly statusMessage: string | undefined
  readonly sessionId: string | undefined
  /** Nested; everything of ours under `svc` (interface 12.8, 12.9), where `references` join it as it is stored or exported. */
  readonly attributes: JsonObject
  /** What the run was of: artifact, variant, revision, environment, by name. */
  readonly references: ReadonlyMap<string, SpanReference>
  /** Spans of other traces, by name: the run that is judged is `invocation`. */
  readonly links: ReadonlyMap<string, SpanLink>
  readonly exception: SpanException | undefined
}

/** A stored thing that a span is about. */
export interface SpanReference {
  readonly id?: string | undefined
  readonly slug?: string | undefined
  /** A number, or its text where answers carry versions as texts (interface 4.5), and in what was recorded of old. */
  readonly version?: number | string | undefined
}

/** A span, by its ids. */
export interface SpanLink {
  readonly traceId: string
  readonly spanId: string
}

/** What made a span fail. */
export interface SpanException {
  readonly type: string
  readonly message: string
  readonly stacktrace: readonly string[] | undefined
}

/** Attributes that a span may be given while it runs, under names with dots (`svc.metrics.tokens`), each a JSON value. */
export type SpanAttributes = ReadonlyMap<string, Json>
