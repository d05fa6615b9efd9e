import { membersOf } from '../../api/json.ts'
import { hasFailed, type TraceSpan } from './span-tree.ts'

/** What a span carries of ours: `attributes.svc`. */
export interface SpanData {
  readonly inputs: unknown
  readonly outputs: unknown
  readonly parameters: unknown
  readonly tokens: Tokens | undefined
  /** Spans that failed, this one and those below it. */
  readonly errors: number
  readonly evaluationId: string | undefined
}

/** Tokens of a span and of what is below it. */
export interface Tokens {
  readonly prompt: number
  readonly completion: number
  readonly total: number
}

/** Reads the attributes of a span; a foreign span may have any. */
export function dataOf(span: TraceSpan): SpanData {
  const svc = membersOf(span.attributes['svc'])
  const data = membersOf(svc['data'])
  const metrics = membersOf(svc['metrics'])
  const { prompt, completion, total } = membersOf(membersOf(metrics['tokens'])['cumulative'])
  const { cumulative: errors } = membersOf(metrics['errors'])
  const { evaluation_id: evaluationId } = membersOf(svc['tags'])
  return {
    inputs: data['inputs'],
    outputs: data['outputs'],
    parameters: data['parameters'],
    tokens:
      typeof total === 'number'
        ? { prompt: Number(prompt ?? 0), completion: Number(completion ?? 0), total }
        : undefined,
    errors: typeof errors === 'number' ? errors : hasFailed(span) ? 1 : 0,
    evaluationId: typeof evaluationId === 'string' ? evaluationId : undefined,
  }
}

/** Something stored that a span names. */
export interface Named {
  readonly id?: string
  readonly slug?: string
  readonly version?: number | string
}

/** What a span names, by the names it has for it. */
export function referencesOf({ references = [] }: TraceSpan): ReadonlyMap<string, Named> {
  return new Map(references.map(({ attributes, ...named }) => [attributes.key, named]))
}

/** The artifact that a span ran, with its revision: the prompt or evaluator before the plain workflow that it is, too. */
export function ranOf(
  span: TraceSpan,
): { readonly slug: string; readonly revision: Named | undefined } | undefined {
  const references = referencesOf(span)
  for (const surface of ['application', 'evaluator', 'workflow']) {
    const slug = references.get(surface)?.slug
    if (slug !== undefined) return { slug, revision: references.get(`${surface}_revision`) }
  }
  return undefined
}
