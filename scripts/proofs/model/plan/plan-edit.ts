import type { ActualBody, Code, Planned } from '../expectation.ts'
import { refused } from '../expectation.ts'
import { addRevision, addVariant } from '../learn.ts'
import { artifactRecord, flatRecord, variantRecord } from '../state/model-records.ts'
import { generatedVariantSlug } from '../state/model-slugs.ts'
import type { ModelArtifact, ModelHeader, ModelState } from '../state/model-state.ts'
import { stamp, variantsOf } from '../state/model-state.ts'
import { pickFrom, wrongId } from './pick-targets.ts'
import { notFoundAt, pathOf } from './plan-archive.ts'
import { roleFlags } from './plan-create.ts'
import type { EditFields, EditStep, Step } from '../step.ts'

/** `PUT …/{id}`: header fields; a simple one may bring a payload, which becomes a revision (interface 4.23). The roles in a variant's flags are its artifact's (interface 2.11). */
export function planEdit(state: ModelState, step: EditStep & Step): Planned {
  const { surface, level, pick, edit, data } = step
  const place = level === 'variant' ? pickFrom(variantsOf(state), pick) : undefined
  const artifact = level === 'variant' ? place?.artifact : pickFrom(state.artifacts, pick)
  const target = level === 'variant' ? place?.variant : artifact
  const id = target?.id ?? wrongId(state, level, pick)
  const key = level === 'variant' ? `${surface}_variant` : surface
  const brought = level === 'flat' ? data : undefined
  const request = {
    method: 'PUT' as const,
    path: `${pathOf(level, surface)}/${id}`,
    body: { [key]: { id, ...edit, ...(brought ? { data: '@data@' } : {}) } },
    ...(brought ? { rawData: brought.text } : {}),
  }
  if (!target || !artifact) return { request, expected: refused(notFoundAt(level)) }
  const written = [artifact, place?.variant, brought ? artifact.variants[0] : undefined]
  const hasOtherRoles =
    level === 'variant' &&
    Object.entries(edit.flags ?? {}).some(([role, is]) => is !== (artifact.flags?.[role] ?? false))
  const codes: readonly Code[] = [
    ...(hasOtherRoles ? (['read_only_field'] as const) : []),
    ...(written.some((it) => it?.lifecycle.deleted_at !== undefined) ? (['archived'] as const) : []),
  ]
  if (codes.length > 0) return { request, expected: refused(...codes) }
  const answer = ({ [key]: actual }: ActualBody) => {
    if (brought) commitPayload(state, artifact, brought, actual)
    const changesHeader = Object.keys(edit).length > 0
    if (changesHeader || level !== 'flat') {
      target.header = edited(target.header, edit)
      target.lifecycle = { ...target.lifecycle, updated_at: stamp(state), updated_by_id: state.actor.id }
    }
    if (target === artifact && edit.flags !== undefined) artifact.flags = roleFlags(surface, edit.flags)
    if (place) return [{ count: 1, [key]: variantRecord(place, surface) }]
    return [
      { count: 1, [key]: level === 'flat' ? flatRecord(state, artifact) : artifactRecord(state, artifact) },
    ]
  }
  const exact = brought?.parameters
  return { request, expected: { answer, exact: exact && `"parameters":${exact}` } }
}

/** A payload goes to the default variant, which is made if there is none. */
function commitPayload(
  state: ModelState,
  artifact: ModelArtifact,
  payload: NonNullable<EditStep['data']>,
  actual: ActualBody,
): void {
  const slug = generatedVariantSlug(state, artifact.slug)
  const variant = artifact.variants[0] ?? addVariant(state, artifact, actual.variant_id, { slug, header: {} })
  addRevision(state, artifact, variant, actual.revision_id, { header: {}, payload })
}

/** A field left out keeps its value; null clears it. */
function edited(header: ModelHeader, { flags: _flags, ...edit }: EditFields): ModelHeader {
  return Object.fromEntries(Object.entries({ ...header, ...edit }).filter(([, value]) => value !== null))
}
