import { Refusal } from '../../../errors.ts'
import { type Json, plainJson } from '../../../base/json.ts'
import {
  type SavedQuery,
  findSavedQuery,
  narrowed,
  traceQuestion,
  type TraceQuestion,
  type TraceWindow,
} from '../../../feeds/traces.ts'
import type { References, Registry } from '../../../registry/registries.ts'
import { guard } from '../../routing/input.ts'
import { traceWindowing } from '../../schemas/trace.ts'

/** The parts of a request about traces or spans. */
export interface TracesRequest extends References {
  readonly filtering?: Json | undefined
  readonly windowing?: TraceWindow | undefined
  /** Only traces of drafts, or only others (interface 12.15). */
  readonly draft?: boolean | undefined
}

/**
 * The question of a request: its own filtering and windowing, or those of the saved query it names. For a
 * saved query it may change only `limit` and `next` (interface 12.11). Throws `focus_mismatch` if the saved
 * query has another focus.
 */
export async function traceQuery(
  registry: Registry,
  focus: TraceQuestion['focus'],
  { draft, ...asked }: TracesRequest,
): Promise<TraceQuestion> {
  const question = await questionNamed(registry, focus, asked)
  if (draft === undefined) return question
  return narrowed(question, { ...DRAFT, operator: draft ? 'exists' : 'not_exists' })
}

/** What every span of a draft's trace has. */
const DRAFT = { field: 'attributes', key: 'svc.draft' }

async function questionNamed(
  registry: Registry,
  focus: TraceQuestion['focus'],
  { filtering, windowing = {}, artifact, variant, revision }: TracesRequest,
): Promise<TraceQuestion> {
  if (!artifact && !variant && !revision) {
    const sent = filtering === undefined ? undefined : { value: filtering, loc: ['body', 'filtering'] }
    return traceQuestion(focus, sent, windowing)
  }
  if (filtering !== undefined) {
    throw new Refusal(
      'contradictory_request',
      'The request names a saved query and has a filtering of its own. Leave one of them out.',
    )
  }
  const saved = await findSavedQuery(registry, { artifact, variant, revision })
  if ((saved.focus ?? focus) !== focus) {
    throw new Refusal(
      'focus_mismatch',
      `The saved query is about ${saved.focus}s (formatting.focus). Send it to POST /${saved.focus}s/query.`,
    )
  }
  return savedQuestion(focus, saved, windowing)
}

/**
 * The question of a saved query. A request may change its `limit` and `next`; if the query has no windowing,
 * the request's is used.
 */
export function savedQuestion(
  focus: TraceQuestion['focus'],
  { filtering, windowing }: SavedQuery,
  { limit, next, ...asked }: TraceWindow,
): TraceQuestion {
  const stored = windowing ? guard(traceWindowing, plainJson(windowing), 'body') : asked
  return traceQuestion(
    focus,
    filtering && { value: filtering, loc: ['query_revision', 'data', 'filtering'] },
    { ...stored, ...(limit === undefined ? {} : { limit }), ...(next === undefined ? {} : { next }) },
  )
}
