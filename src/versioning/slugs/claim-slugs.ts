import { Refusal } from '../../errors.ts'
import { HelpfulRefusal } from '../../suggestions/helpful-refusal.ts'
import type { Family } from '../family/family.ts'
import { helpWithTaken } from '../not-found.ts'
import type { Registry } from '../registry.ts'
import { assertSlug, numberedBase } from './slug.ts'
import type { SlugLevel } from '../index/slug-table.ts'
import { inTrash } from '../trash/trash.ts'

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
  if (await registry.index.isTaken(level, family, slug)) throw slugTaken(registry, family, level, slug)
  await assertNotInTrash(registry, family, level, slug)
  if (level === 'artifact') registry.trash.assertFolderFree(family, slug)
  if (level !== 'variant') return
  await assertNotInTrash(registry, family, 'numbered', slug)
  if (await registry.index.isTaken('numbered', family, slug)) {
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
  if (await registry.index.isTaken('tag', family, slug)) throw slugTaken(registry, family, 'tag', slug)
  await assertNotInTrash(registry, family, 'tag', slug)
  const base = numberedBase(slug)
  if (base === undefined) return
  await assertNotInTrash(registry, family, 'variant', base)
  if (await registry.index.isTaken('variant', family, base)) {
    throw new Refusal(
      'slug_taken',
      `The slug "${slug}" reads as a version of the variant "${base}". Choose one that does not end in -<number>.`,
      { conflict: { slug } },
    )
  }
}

/** The first free of `base`, `base-2`, `base-3` … at the variant level. */
export function freeVariantSlug(registry: Registry, family: Family, base: string): Promise<string> {
  return freeSlug(registry, family, 'variant', base, Number.POSITIVE_INFINITY).then((slug) => slug ?? base)
}

/** So many slugs are tried for a suggestion. */
const MOST_TRIED = 20

async function freeSlug(
  registry: Registry,
  family: Family,
  at: 'artifact' | 'variant',
  base: string,
  mostTried: number,
): Promise<string | undefined> {
  const levels = at === 'variant' ? (['variant', 'numbered'] as const) : (['artifact'] as const)
  const isTaken = async (slug: string): Promise<boolean> => {
    for (const level of levels) {
      if (await registry.index.isTaken(level, family, slug)) return true
      if (await registry.trash.holderOf(level, family, slug)) return true
    }
    return false
  }
  let slug = base
  for (let number = 2; await isTaken(slug); number++) {
    if (number > mostTried) return undefined
    slug = `${base}-${number}`
  }
  return slug
}

/** Refuses a slug that something in the trash keeps. */
async function assertNotInTrash(
  registry: Registry,
  family: Family,
  level: SlugLevel,
  slug: string,
): Promise<void> {
  const holder = await registry.trash.holderOf(level, family, slug)
  if (!holder) return
  const { sentence, when } = inTrash(holder)
  throw new Refusal(
    'slug_taken',
    `The slug "${slug}" is taken in this project: ${sentence} Choose another one.`,
    {
      conflict: { slug },
      ...when,
    },
  )
}

function slugTaken(registry: Registry, family: Family, level: SlugLevel, slug: string): Refusal {
  const what = level === 'tag' ? 'revision' : level
  return new HelpfulRefusal('slug_taken', {
    family: family.name,
    sentenceOf: () => `The ${what} slug "${slug}" is taken in this project. Choose another one.`,
    data: { conflict: { slug } },
    help:
      level === 'artifact' || level === 'variant'
        ? helpWithTaken(registry, family, level, slug, () =>
            freeSlug(registry, family, level, slug, MOST_TRIED),
          )
        : undefined,
  })
}
