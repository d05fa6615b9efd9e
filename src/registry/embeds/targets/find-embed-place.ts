import { Refusal } from '../../../errors.ts'
import type { Registry } from '../../store/registry.ts'
import { resolveReference } from '../../revisions/references.ts'
import type { RevisionLocation } from '../../revisions/revision.ts'
import { slugProblem } from '../../slugs/slug.ts'
import type { EmbedLookup } from './embed-lookup.ts'
import { EmbedRefusal, type EmbedRefusalCode } from '../embed-refusal.ts'

/**
 * The place of the revision in a lookup (interface 10.7), archived or not and of any role. Throws an
 * `EmbedRefusal` if there is none.
 */
export async function findEmbedPlace(
  registry: Registry,
  { family: name, references }: EmbedLookup,
): Promise<RevisionLocation> {
  const family = registry.families.find((it) => it.name === name)
  if (!family) throw new EmbedRefusal('embed_not_found', `There are no ${name}s here.`)
  for (const reference of Object.values(references)) {
    const problem = reference.slug === undefined ? undefined : slugProblem(reference.slug)
    if (problem !== undefined) {
      throw new EmbedRefusal(
        'embed_not_found',
        `Nothing has the slug "${reference.slug?.slice(0, 80) ?? ''}": it ${problem}.`,
      )
    }
  }
  try {
    return await resolveReference(registry, family, references)
  } catch (error) {
    const code = error instanceof Refusal ? CODES.get(error.code) : undefined
    // a problem of the store is not the embed's
    if (!(error instanceof Refusal) || code === undefined) throw error
    // What a limited key does not see, and what is not there, are the same (interface 18.7).
    if (registry.limit) throw new EmbedRefusal('embed_invalid', 'It leads to nothing that this key sees.')
    throw new EmbedRefusal(code, error.message, 'embed', error.data)
  }
}

/** The embed failures for refusals of a lookup. */
const CODES: ReadonlyMap<string, EmbedRefusalCode> = new Map([
  ['artifact_not_found', 'embed_not_found'],
  ['variant_not_found', 'embed_not_found'],
  ['revision_not_found', 'embed_not_found'],
  ['environment_not_found', 'embed_not_found'],
  ['incomplete_reference', 'embed_incomplete'],
])
