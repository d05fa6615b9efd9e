import { Refusal } from '../errors.ts'
import type { Family } from './family.ts'
import type { Registry } from './registry.ts'
import { assertSlug, numberedBase } from './slugs.ts'
import type { SlugLevel } from './slug-table.ts'

/**
 * Refuses a slug that is ill-formed or that another thing of its level has, compared without case (ruling 3.3); for a
 * variant also one whose revisions would come to have a slug that another revision was given.
 */
export async function assertSlugFree(
  registry: Registry,
  family: Family,
  level: 'artifact' | 'variant',
  slug: string,
  loc: readonly (string | number)[],
): Promise<void> {
  assertSlug(slug, loc)
  if (await registry.index.isTaken(level, family, slug)) throw slugTaken(level, slug)
  if (level === 'variant' && (await registry.index.isTaken('numbered', family, slug))) {
    throw new Refusal(
      'slug_taken',
      `Revisions of a variant "${slug}" would be named "${slug}-<number>", and a revision was given such a slug. ` +
        `Choose another one.`,
      { conflict: { slug } },
    )
  }
}

/**
 * Refuses a revision slug that is ill-formed, taken, or that reads as `<existing variant>-<number>` and so could come to
 * name two revisions (ruling 3.4).
 */
export async function assertRevisionSlugFree(
  registry: Registry,
  family: Family,
  slug: string,
  loc: readonly (string | number)[],
): Promise<void> {
  assertSlug(slug, loc)
  if (await registry.index.isTaken('tag', family, slug)) throw slugTaken('tag', slug)
  const base = numberedBase(slug)
  if (base !== undefined && (await registry.index.isTaken('variant', family, base))) {
    throw new Refusal(
      'slug_taken',
      `The slug "${slug}" reads as a version of the variant "${base}". Choose one that does not end in -<number>.`,
      { conflict: { slug } },
    )
  }
}

/** The first free of `base`, `base-2`, `base-3` … at the variant level. */
export async function freeVariantSlug(registry: Registry, family: Family, base: string): Promise<string> {
  const isTaken = async (slug: string): Promise<boolean> =>
    (await registry.index.isTaken('variant', family, slug)) ||
    (await registry.index.isTaken('numbered', family, slug))
  let slug = base
  for (let number = 2; await isTaken(slug); number++) slug = `${base}-${number}`
  return slug
}

function slugTaken(level: SlugLevel, slug: string): Refusal {
  const what = level === 'tag' ? 'revision' : level
  return new Refusal(
    'slug_taken',
    `The ${what} slug "${slug}" is taken in this project. Choose another one.`,
    {
      conflict: { slug },
    },
  )
}
