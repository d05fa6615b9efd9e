import type { ActualBody, Code, Planned, Told } from '../expectation.ts'
import { refused } from '../expectation.ts'
import { addRevision } from '../learn.ts'
import type { ModelDelta } from '../state/model-data.ts'
import { applyDelta, removesAbsent } from '../state/model-data.ts'
import { revisionRecord } from '../state/model-records.ts'
import { isRevisionSlugTaken, shadowsOf } from '../state/model-slugs.ts'
import type { ModelState, VariantAt } from '../state/model-state.ts'
import { definedOf, latestOf, revisionsOf, variantsOf } from '../state/model-state.ts'
import { pickFrom, UNKNOWN_ID, wrongId } from './pick-targets.ts'
import type { CommitStep, PayloadText, Step } from '../step.ts'

/** `POST /<x>s/revisions/commit`, and `POST /<x>s/revisions/` for a first revision without payload (interface 4.2). */
export function planCommit(state: ModelState, step: CommitStep & Step): Planned {
  const { surface, pick, message, header, slug, first } = step
  const place = pickFrom(variantsOf(state), pick)
  const parent = [`${surface}_variant_id`, 'workflow_variant_id', 'variant_id'][pick % 3] ?? ''
  const payload = first ? 'none' : step.payload
  const base = first ? { fields: {}, headers: {} } : baseOf(state, step, place)
  const fields = definedOf({
    [parent]: place?.variant.id ?? wrongId(state, 'variant', pick),
    ...header,
    message,
    slug,
    ...payloadMembers(payload),
    ...base.fields,
  })
  const wrapper = pick % 2 === 0 && !first ? `${surface}_revision_commit` : `${surface}_revision`
  const rawData = typeof payload === 'object' && 'text' in payload ? payload.text : undefined
  const request = {
    method: 'POST' as const,
    path: `/${surface}s/revisions/${first ? '' : 'commit'}`,
    body: { [wrapper]: fields },
    headers: base.headers,
    ...definedOf({ rawData }),
  }
  if (!place) {
    // An incomplete or contradictory payload may be told first.
    return { request, expected: refused('variant_not_found', 'contradictory_request', 'missing_payload') }
  }
  const reasons = refusals(state, step, payload, place)
  if (reasons.length > 0) return { request, expected: refused(...reasons) }
  const { artifact, variant } = place
  const data =
    typeof payload === 'object' && !('text' in payload)
      ? applyDelta(latestOf(variant)?.data, payload)
      : undefined
  const answer = ({ [`${surface}_revision`]: actual }: ActualBody) => {
    const brought = typeof payload === 'object' && 'text' in payload ? payload : undefined
    const draft = { header, message, slug, data, payload: brought }
    const revision = addRevision(state, artifact, variant, actual.id, draft)
    const record = revisionRecord(state, { artifact, variant, revision }, surface, true)
    return [{ count: 1, [`${surface}_revision`]: record }]
  }
  const exact = rawData === undefined ? undefined : payloadText(payload)?.parameters
  const warnings = (): readonly Told[] =>
    slug === undefined ? [] : shadowsOf(state, artifact, [['tag', slug]])
  return { request, expected: { answer, warnings, exact: exact && `"parameters":${exact}` } }
}

function payloadText(payload: CommitStep['payload']): PayloadText | undefined {
  return typeof payload === 'object' && 'text' in payload ? payload : undefined
}

function payloadMembers(payload: CommitStep['payload']): { data?: unknown; delta?: ModelDelta } {
  if (payload === 'none') return {}
  if (payload === 'both') return { data: { parameters: {} }, delta: { set: { parameters: {} } } }
  return 'text' in payload ? { data: '@data@' } : { delta: payload }
}

/** Every reason to refuse the commit; which of them is told is open. */
function refusals(
  state: ModelState,
  { base, slug, first, pick }: CommitStep,
  payload: CommitStep['payload'],
  { artifact, variant }: VariantAt,
): Code[] {
  const latest = latestOf(variant)
  const other = otherRevision(state, pick)
  const reasons: Code[] = []
  if (artifact.lifecycle.deleted_at !== undefined || variant.lifecycle.deleted_at !== undefined)
    reasons.push('archived')
  if (slug !== undefined && isRevisionSlugTaken(artifact, slug)) reasons.push('slug_taken')
  if (payload === 'both') reasons.push('contradictory_request')
  if (payload === 'none' && latest?.data !== undefined) reasons.push('missing_payload')
  if (typeof payload === 'object' && !('text' in payload) && removesAbsent(latest?.data, payload))
    reasons.push('no_such_key')
  if (first) return variant.head ? [...reasons, 'revision_exists'] : reasons
  if (base === 'latest' && !latest) reasons.push('revision_conflict')
  if (base === 'other' && other !== latest?.id) reasons.push('revision_conflict')
  if ((base === 'match latest' || base === 'match any') && !latest) reasons.push('precondition_failed')
  if (base === 'match other' && other !== latest?.id) reasons.push('precondition_failed')
  return reasons
}

function baseOf(
  state: ModelState,
  { base, pick }: CommitStep,
  place: VariantAt | undefined,
): { readonly fields: object; readonly headers: Readonly<Record<string, string>> } {
  const latest = (place && latestOf(place.variant)?.id) ?? UNKNOWN_ID
  const id = base === 'other' || base === 'match other' ? otherRevision(state, pick) : latest
  if (base === 'none') return { fields: {}, headers: {} }
  if (base === 'latest' || base === 'other') return { fields: { base_revision_id: id }, headers: {} }
  return { fields: {}, headers: { 'if-match': base === 'match any' ? '*' : `"${id}.AbCd"` } }
}

function otherRevision(state: ModelState, pick: number): string {
  return pickFrom(revisionsOf(state), pick * 7)?.revision.id ?? UNKNOWN_ID
}
