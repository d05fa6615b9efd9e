import { invalid } from '../../errors.ts'
import type { Json } from '../../json/json.ts'
import { stringifyJson } from '../../json/stringify-json.ts'
import { readTraceFilter } from './filter/trace-filter.ts'
import type { TraceQuestion } from './trace-page.ts'
import { readSpanId, readTraceId } from '../trace-ids.ts'
import type { TraceWindow } from './trace-window.ts'

/** A filtering that somebody sent, and where it stood. */
export interface SentFiltering {
  readonly value: Json
  readonly loc: readonly (string | number)[]
}

/** Checks a question before it is asked; refuses with `invalid_request`. */
export function traceQuestion(
  focus: TraceQuestion['focus'],
  filtering: SentFiltering | undefined,
  window: TraceWindow,
): TraceQuestion {
  if (filtering) readTraceFilter(filtering.value, filtering.loc)
  const next = window.next === undefined ? undefined : cursorOf(focus, window.next)
  return { focus, filtering: filtering && stringifyJson(filtering.value), window: { ...window, next } }
}

/** A trace by its id; a span by both, or by its own beside the time that the window begins at. */
function cursorOf(focus: TraceQuestion['focus'], next: string): string {
  const [first = '', second] = next.split('.')
  const traceId = readTraceId(first)
  if (focus === 'trace' && traceId !== undefined) return traceId
  const spanId = readSpanId(second ?? first)
  if (focus === 'span' && spanId !== undefined)
    return traceId === undefined || second === undefined ? spanId : `${traceId}.${spanId}`
  throw invalid(
    ['body', 'windowing', 'next'],
    `${JSON.stringify(next.slice(0, 80))} is no place in a list of ${focus}s. Send the \`next\` of the previous answer.`,
    'invalid_cursor',
  )
}
