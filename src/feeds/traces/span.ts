import type { Json, JsonObject } from '../../base/json.ts'

/** The types of spans (interface 12.9). */
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

export type SpanType = (typeof SPAN_TYPES)[number]

/** A span's side of a call, in OpenTelemetry's words. */
export type SpanKind =
  | 'SPAN_KIND_UNSPECIFIED'
  | 'SPAN_KIND_INTERNAL'
  | 'SPAN_KIND_SERVER'
  | 'SPAN_KIND_CLIENT'
  | 'SPAN_KIND_PRODUCER'
  | 'SPAN_KIND_CONSUMER'

/** A finished span (interface 12.9), for storing and exporting. */
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
  /** Nested; our own are under `svc` (interface 12.8, 12.9). `references` are added to them for storing and exporting. */
  readonly attributes: JsonObject
  /** The objects that were run: artifact, variant, revision, environment, by name. */
  readonly references: ReadonlyMap<string, SpanReference>
  /** Spans of other traces, by name: `invocation` is the run that is judged. */
  readonly links: ReadonlyMap<string, SpanLink>
  readonly exception: SpanException | undefined
}

/** A stored object that a span refers to. */
export interface SpanReference {
  readonly id?: string | undefined
  readonly slug?: string | undefined
  /** A number; a text if answers have versions as texts (interface 4.5), and in old records. */
  readonly version?: number | string | undefined
}

export interface SpanLink {
  readonly traceId: string
  readonly spanId: string
}

/** The error that made a span fail. */
export interface SpanException {
  readonly type: string
  readonly message: string
  readonly stacktrace: readonly string[] | undefined
}

/** Attributes set while a span runs, by names with dots (`svc.metrics.tokens`); the values are JSON. */
export type SpanAttributes = ReadonlyMap<string, Json>
