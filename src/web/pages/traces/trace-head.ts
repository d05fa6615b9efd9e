import type { Answer } from '../../api/call.ts'
import { clipped, excerptOf } from '../../parts/excerpt/excerpt.ts'
import { membersOf } from '../../api/members-of.ts'
import { dataOf, ranOf } from '../../parts/waterfall/span-data.ts'
import { hasFailed, type TraceSpan } from '../../parts/waterfall/span-tree.ts'

type Trace = Answer<'POST /traces/query'>['traces'][number]

/** What a list shows of a trace. */
export interface TraceHead {
  readonly name: string
  readonly began: string
  /** In milliseconds. */
  readonly took: number
  /** Spans that failed. */
  readonly errors: number
  /** Why the head failed. */
  readonly message: string | undefined
  /** What was run. */
  readonly ran: ReturnType<typeof ranOf>
  readonly tokens: number | undefined
  readonly input: string
  readonly output: string
}

/** Reads the span that heads a trace; the first of several. */
export function headOf({ spans }: Trace): TraceHead | undefined {
  const [head] = Object.values(spans).flat() as readonly (TraceSpan | undefined)[]
  if (!head) return undefined
  const { inputs, outputs, tokens, errors } = dataOf(head)
  return {
    name: clipped(head.span_name),
    began: head.start_time,
    took: Date.parse(head.end_time) - Date.parse(head.start_time),
    errors,
    message: hasFailed(head) ? clipped(head.status_message ?? 'failed') : undefined,
    ran: ranOf(head),
    tokens: tokens?.total,
    input: excerptOf(membersOf(inputs)['inputs'] ?? inputs),
    output: excerptOf(membersOf(outputs)['content'] ?? outputs),
  }
}
