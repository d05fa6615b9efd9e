import { groupBy, JsonText } from '../../../base/json.ts'
import type { SpanRow } from '../span-record.ts'

/** A trace in an answer; `spans` is serialised JSON. */
export interface TraceRecord {
  readonly trace_id: string
  readonly spans: JsonText
}

/**
 * Traces as trees (interface 12.9): spans by name, siblings with the same name in a list, children in their parent's `spans`. A span whose
 * parent is absent is a root: the parent may be a span of the caller's own tracing.
 */
export function traceTrees(rows: readonly SpanRow[]): TraceRecord[] {
  return byTrace(rows).map(([traceId, spans]) => ({
    trace_id: traceId,
    spans: new JsonText(treeText(spans)),
  }))
}

/** Traces with a flat map of spans by id (interface 13.5). */
export function flatTraces(rows: readonly SpanRow[]): TraceRecord[] {
  return byTrace(rows).map(([traceId, spans]) => ({
    trace_id: traceId,
    spans: new JsonText(`{${spans.map((span) => `"${span.span_id}":${span.record}`).join()}}`),
  }))
}

/** The distinct ids of traces. */
export function traceIdsOf(rows: readonly SpanRow[]): string[] {
  return [...new Set(rows.map((row) => row.trace_id))]
}

function byTrace(rows: readonly SpanRow[]): [string, SpanRow[]][] {
  return [...groupBy(rows, (row) => row.trace_id)]
}

function treeText(spans: readonly SpanRow[]): string {
  const ids = new Set(spans.map((span) => span.span_id))
  const children = groupBy(spans, ({ parent_id: parent, span_id: id }) =>
    parent !== null && parent !== id && ids.has(parent) ? parent : undefined,
  )
  return levelText(children.get(undefined) ?? [], children)
}

type Children = ReadonlyMap<string | undefined, readonly SpanRow[]>

function levelText(spans: readonly SpanRow[], children: Children): string {
  const names = [...groupBy(spans, (span) => span.span_name)].map(([name, named]) => {
    const texts = named.map((span) => spanText(span, children))
    return `${JSON.stringify(name)}:${texts.length === 1 ? texts[0] : `[${texts.join()}]`}`
  })
  return `{${names.join()}}`
}

function spanText({ span_id: id, record }: SpanRow, children: Children): string {
  const below = children.get(id)
  return below ? `${record.slice(0, -1)},"spans":${levelText(below, children)}}` : record
}
