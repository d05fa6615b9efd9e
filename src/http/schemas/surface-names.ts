import type { Surface } from '../../resources/surface.ts'

/** The words of one surface in requests and answers (interface 2.5). */
export interface SurfaceNames {
  /** Accepted singulars, the surface's own first: `application`, `workflow`, … */
  readonly singulars: readonly string[]
  /** Singulars under which ids and slugs are answered: the family's and the surface's own. */
  readonly answered: readonly string[]
}

/** The names of a surface, given all surfaces over the same family: existing clients mix their spellings. */
export function surfaceNames(surface: Surface, siblings: readonly Surface[]): SurfaceNames {
  const others = siblings.map((it) => it.singular).filter((name) => name !== surface.singular)
  return {
    singulars: [surface.singular, ...others],
    answered: [...new Set([surface.family.name, surface.singular])],
  }
}

/** `suffix` behind every accepted singular: `application_variant_ref`, `workflow_variant_ref`, … */
export function spellings(names: SurfaceNames, suffix: string): string[] {
  return names.singulars.map((singular) => `${singular}${suffix}`)
}

/** Every accepted spelling of a parent's id: `application_variant_id`, …, `variant_id` (level `_variant`). */
export function idSpellings(names: SurfaceNames, level: '' | '_variant' | '_revision'): string[] {
  return [...spellings(names, `${level}_id`), level === '' ? 'artifact_id' : `${level.slice(1)}_id`]
}

/** The word with its article: `an application`, `a workflow`. */
export function withArticle(word: string): string {
  return `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`
}
