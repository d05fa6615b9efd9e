export {
  type Annotation,
  type AnnotationFilter,
  type NewAnnotation,
  NO_ANNOTATION,
  type ProjectAnnotations,
} from './traces/annotations.ts'
export { limitedTraces } from './traces/limited-traces.ts'
export { type HintDialect, type SpanHint, sqlOfHint } from './traces/filter/span-hint.ts'
export {
  addUsage,
  type Amounts,
  inDollars,
  type ModelUsage,
  OpenSpan,
  startTrace,
} from './traces/open-span.ts'
export { OpenTraces, type SharedTraces } from './traces/open-traces.ts'
export {
  ProjectTraces,
  type SpanStore,
  type TraceRetention,
  type TraceSettings,
} from './traces/project-traces.ts'
export { type SavedQuery, findSavedQuery, savedQuery } from './traces/query/saved-query.ts'
export {
  ChunkLimit,
  MOST_ROWS,
  PageBuilder,
  type ReadQuestion,
  type TracePage,
  type TraceQuestion,
  type TraceWindow,
  narrowed,
  noSuchPlace,
  readQuestion,
  sampleBound,
  traceQuestion,
} from './traces/query/trace-page.ts'
export { TraceReader, type Work } from './traces/query/trace-reader.ts'
export { flatTraces, traceIdsOf, traceTrees } from './traces/query/trace-tree.ts'
export { STAND_IN, type SpanRow, type StoredSpan, exactSpan, isoOf } from './traces/span-record.ts'
export { readTime } from './traces/span-time.ts'
export type { Span, SpanLink, SpanReference } from './traces/span.ts'
export { traceThread } from './traces/storage/thread-work.ts'
export { randomHex, readSpanId, readTraceId } from './traces/trace-ids.ts'
