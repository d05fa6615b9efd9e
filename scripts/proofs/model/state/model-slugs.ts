import type { Told } from '../expectation.ts'
import type { ModelArtifact, ModelState } from './model-state.ts'

/** That an artifact has a slug, and since when: of a revision only one that was chosen for it. */
export interface ModelClaim {
  readonly artifact: ModelArtifact
  readonly level: 'variant' | 'artifact' | 'tag'
  readonly slug: string
  readonly since: string
}

/** Every claim of an artifact. */
export function claimsOf(artifact: ModelArtifact): ModelClaim[] {
  return [
    { artifact, level: 'artifact', slug: artifact.slug, since: artifact.lifecycle.created_at },
    ...artifact.variants.map(({ slug, lifecycle }): ModelClaim => {
      return { artifact, level: 'variant', slug, since: lifecycle.created_at }
    }),
    ...artifact.revisions.flatMap(({ chosenSlug, chosenAt }): ModelClaim[] =>
      chosenSlug === undefined ? [] : [{ artifact, level: 'tag', slug: chosenSlug, since: chosenAt }],
    ),
  ]
}

/** The older first: ties go by the artifacts' ids, and of one artifact the variant comes first (interface 5.9, 5.7). */
export function byAge(a: ModelClaim, b: ModelClaim): number {
  const order = (it: ModelClaim): string =>
    `${it.since} ${it.artifact.id} ${['variant', 'artifact', 'tag'].indexOf(it.level)}`
  return order(a) < order(b) ? -1 : 1
}

/** Whether another artifact has the slug, compared without case (interface 4.9). */
export function isArtifactSlugTaken(state: ModelState, slug: string): boolean {
  return state.artifacts.some((it) => same(it.slug, slug))
}

/**
 * Whether a variant of an artifact cannot have the slug: another has it, a chosen revision slug reads as one of its numbers, or it reads as a
 * number of another (interface 4.9, 4.12).
 */
export function isVariantSlugTaken(artifact: ModelArtifact, slug: string): boolean {
  return (
    artifact.variants.some((variant) => same(variant.slug, slug)) ||
    chosenSlugs([artifact]).some((chosen) => isSame(baseOf(chosen), slug)) ||
    artifact.variants.some((variant) => isSame(baseOf(slug), variant.slug))
  )
}

/** Whether a revision of an artifact cannot have the slug: another has it, or it reads as a variant and a number (interface 4.12). */
export function isRevisionSlugTaken(artifact: ModelArtifact, slug: string): boolean {
  return (
    chosenSlugs([artifact]).some((chosen) => same(chosen, slug)) ||
    artifact.variants.some((variant) => isSame(baseOf(slug), variant.slug))
  )
}

/** The slug of a variant whose maker gave none: the artifact's, with _2, _3 … where any artifact has a variant of it (interface 4.9). */
export function generatedVariantSlug(state: ModelState, artifactSlug: string): string {
  const isTaken = (slug: string): boolean =>
    state.artifacts.some(({ variants }) => variants.some((it) => same(it.slug, slug))) ||
    chosenSlugs(state.artifacts).some((chosen) => isSame(baseOf(chosen), slug))
  return firstFree(artifactSlug, isTaken)
}

/** The slug of an artifact whose maker gave a name only; undefined where that gives none. */
export function slugOfName(state: ModelState, name: string | undefined): string | undefined {
  // Of the names of histories.
  const slug = name
    ?.toLowerCase()
    .replace('ë', 'e')
    .replaceAll(/[^a-z0-9]+/g, '-')
  if (slug === undefined || slug === '-') return undefined
  return firstFree(slug, (it) => isArtifactSlugTaken(state, it))
}

/** What is told of slugs that were made and mean another artifact where they stand alone: those of which an older one has a claim. */
export function shadowsOf(
  state: ModelState,
  artifact: ModelArtifact,
  made: readonly (readonly [ModelClaim['level'], string])[],
): Told[] {
  const others = state.artifacts.filter((it) => it !== artifact).flatMap(claimsOf)
  return made.flatMap(([level, slug]) => {
    const own = claimsOf(artifact).find((it) => it.level === level && it.slug === slug)
    const isShadowed = others.some((it) => own && byAge(it, own) < 0 && clashes(level, slug, it))
    return isShadowed ? [{ code: 'shadowed_slug', says: `"${slug}"` }] : []
  })
}

/** Whether a claim is to something that a new slug would be asked for as. */
function clashes(level: ModelClaim['level'], slug: string, other: ModelClaim): boolean {
  if (other.slug === slug) return level !== 'artifact' || other.level !== 'artifact'
  if (level === 'artifact') return false
  if (other.level === 'variant') return baseOf(slug) === other.slug
  return level === 'variant' && other.level === 'tag' && baseOf(other.slug) === slug
}

function firstFree(base: string, isTaken: (slug: string) => boolean): string {
  let slug = base
  for (let number = 2; isTaken(slug); number++) slug = `${base}_${number}`
  return slug
}

function chosenSlugs(artifacts: readonly ModelArtifact[]): string[] {
  return artifacts.flatMap((artifact) => artifact.revisions.flatMap((it) => it.chosenSlug ?? []))
}

/** What stands before `-<number>`. */
function baseOf(slug: string): string | undefined {
  return /^(.+)-[0-9]+$/.exec(slug)?.[1]
}

function isSame(a: string | undefined, b: string): boolean {
  return a !== undefined && same(a, b)
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
