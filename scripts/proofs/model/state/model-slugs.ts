import type { ModelState } from './model-state.ts'
import { variantsOf } from './model-state.ts'

/** Whether another artifact has the slug, compared without case (ruling 3.3). */
export function isArtifactSlugTaken(state: ModelState, slug: string): boolean {
  return state.artifacts.some((it) => same(it.slug, slug))
}

/**
 * Whether a variant cannot have the slug: another has it, or a chosen revision slug reads as one of its numbers, which
 * would make two revisions of one slug (rulings 3.3, 3.4).
 */
export function isVariantSlugTaken(state: ModelState, slug: string): boolean {
  return (
    variantsOf(state).some(({ variant }) => same(variant.slug, slug)) ||
    chosenSlugs(state).some((chosen) => same(chosen.replace(/-[0-9]+$/, ''), slug) && /-[0-9]+$/.test(chosen))
  )
}

/** Whether a revision cannot have the slug: another has it, or it reads as a variant and a number (ruling 3.4). */
export function isRevisionSlugTaken(state: ModelState, slug: string): boolean {
  const base = /^(.+)-[0-9]+$/.exec(slug)?.[1]
  return (
    chosenSlugs(state).some((chosen) => same(chosen, slug)) ||
    (base !== undefined && variantsOf(state).some(({ variant }) => same(variant.slug, base)))
  )
}

/** The slug of a variant whose maker gave none: the artifact's, with -2, -3 … where that is taken (ruling 3.3). */
export function generatedVariantSlug(state: ModelState, artifactSlug: string): string {
  let slug = artifactSlug
  for (let number = 2; isVariantSlugTaken(state, slug); number++) slug = `${artifactSlug}-${number}`
  return slug
}

function chosenSlugs(state: ModelState): string[] {
  return state.artifacts.flatMap((artifact) => artifact.revisions.flatMap((it) => it.chosenSlug ?? []))
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
