import type { Refusal } from '../../errors.ts'
import { HelpfulRefusal } from '../../base/suggestions.ts'
import type { ArtifactView, VariantView } from '../artifacts/artifact-view.ts'
import type { VariantLocation } from './references.ts'
import type { RevisionLocation } from './revision.ts'
import { isLive, variantsHolding } from './revision.ts'

/**
 * The variant and artifact that a write names beside a revision, already resolved; both belong to the
 * revision's artifact.
 */
export interface NamedBeside {
  readonly variant?: VariantLocation | undefined
  readonly artifact?: ArtifactView | undefined
}

/**
 * The variant that a write to a named revision goes to (interface 4.30). Several variants may hold a revision
 * that was found by its id or its own slug; a fork shares its first revision with its source. The variant is
 * the first of these that applies:
 * - the variant named beside the revision;
 * - the home, if its head is this revision and no other live variant has that head;
 * - the only live variant that holds the revision;
 * - the default variant of the artifact named beside it, if it holds the revision.
 * Throws `ambiguous_variant` if none applies.
 */
export async function variantToWrite(
  place: RevisionLocation,
  { variant, artifact: named }: NamedBeside,
): Promise<VariantLocation> {
  if (variant) return variant
  if (!place.isHome) return place
  const { artifact, variant: home, oid } = place
  const holders = await variantsHolding(artifact, await artifact.repository.history.node(oid))
  const live = holders.filter(isLive)
  if (home.head === oid && live.every(({ head, slug }) => head !== oid || slug === home.slug)) return place
  const [only, ...others] = live
  if (only && others.length === 0) return { artifact, variant: only }
  const byDefault = named?.defaultVariant
  if (byDefault && holders.some(({ slug }) => slug === byDefault.slug))
    return { artifact, variant: byDefault }
  // A revision that only archived variants hold is refused later, as archived.
  if (live.length === 0 && holders.length > 0) return place
  throw ambiguous(place, live)
}

const MAX_VARIANTS_NAMED = 20

const MAX_VARIANTS_LISTED = 1000

function ambiguous({ artifact, variant, version }: RevisionLocation, live: readonly VariantView[]): Refusal {
  const { family } = artifact
  const candidates = live.length > 0 ? live : artifact.variants.filter(isLive)
  const said = live.length > 0 ? `is held by ${live.length} variants` : 'is held by no variant'
  return new HelpfulRefusal('ambiguous_variant', {
    family: family.name,
    sentenceOf: (word) =>
      `The revision "${variant.slug}-${version}" of the ${word} "${artifact.slug}" ${said}, so it does not say which of them is to be ` +
      `written to. Name the variant beside it, with variant_id or ${word}_variant_ref.`,
    help: () => {
      const slugs = candidates.slice(0, MAX_VARIANTS_NAMED).map(({ slug }) => `"${slug}"`)
      const more = candidates.length > slugs.length ? ` and ${candidates.length - slugs.length} more` : ''
      return Promise.resolve({
        sentence: `It can be ${slugs.join(', ')}${more}.`,
        details: {
          candidates: candidates.slice(0, MAX_VARIANTS_LISTED).map(({ id, slug }) => ({ id, slug })),
        },
      })
    },
  })
}
