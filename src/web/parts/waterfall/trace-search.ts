import type { Json } from '#routes'
import { membersOf } from '../../api/json.ts'

/** The filters in the address. */
export interface TraceQuery {
  /** The period: `1h`, `24h`, `7d`. */
  readonly since: string | undefined
  /** Only traces that began before this time. */
  readonly before: string | undefined
  readonly status: 'error' | 'ok' | undefined
  /** Slug of what was run. */
  readonly artifact: string | undefined
  readonly text: string | undefined
  /** The least duration, in milliseconds. */
  readonly slower: string | undefined
  /** Slug of the version that ran. */
  readonly revision: string | undefined
  /** Whether its newest feedback is a thumb up or down. */
  readonly approved: 'true' | 'false' | undefined
  /** `1` shows runs of drafts, too. */
  readonly drafts: '1' | undefined
}

const STATUS = { error: 'STATUS_CODE_ERROR', ok: 'STATUS_CODE_OK' } as const

/** The conditions of the filters, as a query stores them. */
export function conditionsOf({
  status,
  artifact,
  text,
  slower,
  revision,
}: Partial<TraceQuery>): readonly Json[] {
  return [
    NO_ANNOTATIONS,
    ...(status ? [{ field: 'status_code', value: STATUS[status] }] : []),
    ...(artifact === undefined ? [] : [{ field: 'references', operator: 'has', value: { slug: artifact } }]),
    ...(revision === undefined ? [] : [{ field: 'references', operator: 'has', value: { slug: revision } }]),
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
}

/** What people say about traces are traces, too, of one span. */
const NO_ANNOTATIONS: Json = { field: 'span_name', operator: 'is_not', value: 'annotation' }

/** What the list leaves out, unless it shows drafts. */
export const NO_DRAFTS: Json = { field: 'attributes', key: 'svc.draft', operator: 'not_exists' }

/** The filters in the address that ask what a stored filtering asks; undefined if they cannot. */
export function filtersOf(filtering: unknown): Readonly<Record<string, string>> | undefined {
  const { conditions = [], operator = 'and' } = membersOf(filtering)
  if (!Array.isArray(conditions) || operator !== 'and') return undefined
  const own = [NO_ANNOTATIONS, NO_DRAFTS].map(said)
  const stored = (conditions as readonly Json[]).map(said)
  const filters = Object.assign({}, ...conditions.map(filterOf)) as Partial<TraceQuery>
  const rest = (texts: readonly string[]): string =>
    texts
      .filter((it) => !own.includes(it))
      .sort()
      .join()
  if (rest(conditionsOf(filters).map(said)) !== rest(stored)) return undefined
  const drafts = stored.includes(said(NO_DRAFTS)) ? {} : { drafts: '1' }
  return { ...filters, ...drafts } as Readonly<Record<string, string>>
}

/** A condition as text, whatever the order of its keys. */
function said(condition: Json): string {
  return JSON.stringify(Object.entries(membersOf(condition)).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The filter that makes a condition. What ran is a version if its slug ends as that of one. */
function filterOf(condition: unknown): Partial<TraceQuery> {
  const { field, value } = membersOf(condition)
  const { slug } = membersOf(value)
  if (field === 'content') return { text: String(value) }
  if (field === 'status_code') return { status: value === STATUS.error ? 'error' : 'ok' }
  if (field === 'attributes' && typeof value === 'number') return { slower: String(value) }
  if (typeof slug !== 'string') return {}
  return /-\d+$/.test(slug) ? { revision: slug } : { artifact: slug }
}
