import type { Planned, Told } from '../expectation.ts'
import { refused } from '../expectation.ts'
import { addRevision, addVariant, learnId } from '../learn.ts'
import type { SurfaceName } from '../state/model-records.ts'
import { artifactRecord, flatRecord, ROLES } from '../state/model-records.ts'
import { generatedVariantSlug, isArtifactSlugTaken, shadowsOf, slugOfName } from '../state/model-slugs.ts'
import type { ModelArtifact, ModelState } from '../state/model-state.ts'
import { definedOf, stamp } from '../state/model-state.ts'
import type { CreateStep, Step } from '../step.ts'

/** `POST /<x>s/`: an artifact and nothing else. `POST /simple/<x>s/`: with a variant, and a revision if data came (interface 4.1). */
export function planCreate(state: ModelState, step: CreateStep & Step): Planned {
  const { surface, simple, slug, header, flags, data, message } = step
  const path = simple ? `/simple/${surface}s/` : `/${surface}s/`
  const more = simple ? { data: data && '@data@', message } : {}
  const request = {
    method: 'POST' as const,
    path,
    body: { [surface]: definedOf({ slug, ...header, flags, ...more }) },
    ...definedOf({ rawData: simple ? data?.text : undefined }),
  }
  if (slug !== undefined && isArtifactSlugTaken(state, slug))
    return { request, expected: refused('slug_taken') }
  const answer = ({ [surface]: actual }: Record<string, Record<string, string>>) => {
    const artifact: ModelArtifact = {
      id: learnId(state, actual?.['id']),
      slug: slug ?? slugOfName(state, header.name) ?? generatedSlug(actual?.['slug']),
      header: definedOf(header),
      flags: roleFlags(surface, flags),
      lifecycle: { created_at: stamp(state), created_by_id: state.actor.id },
      variants: [],
      revisions: [],
    }
    const variantSlug = generatedVariantSlug(state, artifact.slug)
    state.artifacts.push(artifact)
    if (!simple) return [{ count: 1, [surface]: artifactRecord(state, artifact) }]
    const variant = addVariant(state, artifact, actual?.['variant_id'], { slug: variantSlug, header })
    if (data)
      addRevision(state, artifact, variant, actual?.['revision_id'], { header, message, payload: data })
    return [{ count: 1, [surface]: flatRecord(state, artifact) }]
  }
  const warnings = (): readonly Told[] => {
    const artifact = state.artifacts.at(-1)
    if (!artifact) return []
    const variants = artifact.variants.map((it) => ['variant', it.slug] as const)
    return shadowsOf(state, artifact, [['artifact', artifact.slug], ...variants])
  }
  return { request, expected: { answer, warnings } }
}

/** All three roles once one is given or fixed by the surface (interface 1.4, 1.6). */
export function roleFlags(
  surface: SurfaceName,
  given: Readonly<Record<string, boolean>> | null | undefined,
): Readonly<Record<string, boolean>> | undefined {
  const flags: Record<string, boolean> = {
    ...given,
    ...(surface === 'workflow' ? {} : { [`is_${surface}`]: true }),
  }
  if (!ROLES.some((role) => flags[role] !== undefined)) return undefined
  return Object.fromEntries(ROLES.map((role) => [role, flags[role] ?? false]))
}

function generatedSlug(slug: string | undefined): string {
  if (slug !== undefined && /^[0-9a-f]{12}$/.test(slug)) return slug
  throw new Error(`the generated slug ${slug} is not 12 hex digits`)
}
