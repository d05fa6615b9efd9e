import type { Json } from '#routes'
import type { Ask } from '../../api/call.ts'

/** What narrows the list, as the address says it. */
export interface TraceQuery {
  /** `1h`, `24h`, `7d`: since then. */
  readonly since: string | undefined
  /** A time: what began before it. */
  readonly before: string | undefined
  readonly status: 'error' | 'ok' | undefined
  /** Slug of what was run. */
  readonly artifact: string | undefined
  readonly text: string | undefined
  /** Milliseconds that it took at least. */
  readonly slower: string | undefined
}

/** Spans of time that can be chosen, in milliseconds. */
export const PERIODS: Readonly<Record<string, { readonly label: string; readonly ms: number }>> = {
  '1h': { label: 'last hour', ms: 3_600_000 },
  '24h': { label: 'last 24 hours', ms: 86_400_000 },
  '7d': { label: 'last 7 days', ms: 604_800_000 },
}

export function readFilters(search: Readonly<Record<string, string | undefined>>): TraceQuery {
  const { since, before, status, artifact, text, slower } = search
  return {
    since: since !== undefined && Object.hasOwn(PERIODS, since) ? since : undefined,
    before,
    status: status === 'error' || status === 'ok' ? status : undefined,
    artifact,
    text,
    slower,
  }
}

type Question = NonNullable<Ask<'POST /traces/query'>['body']>

const STATUS = { error: 'STATUS_CODE_ERROR', ok: 'STATUS_CODE_OK' } as const

/** The question of the filters: a trace is found by a span that fulfils all of them. `now` is in milliseconds. */
export function questionOf(filters: TraceQuery, limit: number, now: number): Question {
  const { since, before, status, artifact, text, slower } = filters
  const conditions: readonly Json[] = [
    ...(status ? [{ field: 'status_code', value: STATUS[status] }] : []),
    ...(artifact === undefined ? [] : [{ field: 'references', operator: 'has', value: { slug: artifact } }]),
    ...(text === undefined ? [] : [{ field: 'content', value: text }]),
    ...(slower === undefined || !(Number(slower) > 0)
      ? []
      : [
          {
            field: 'attributes',
            key: 'svc.metrics.duration.cumulative',
            operator: 'gte',
            value: Number(slower),
          },
        ]),
  ]
  const period = since === undefined ? undefined : PERIODS[since]
  return {
    ...(conditions.length > 0 ? { filtering: { conditions } } : {}),
    windowing: {
      limit,
      ...(before === undefined ? {} : { newest: before }),
      ...(period ? { oldest: new Date(now - period.ms).toISOString() } : {}),
    },
    heads_only: true,
  }
}
