import type { Family } from './family.ts'
import type { Reference, References } from './references.ts'

/** What a payload of pins holds under one key: references by their names, `application_revision` and the like. */
export interface Pin {
  readonly key: string
  readonly references: ReadonlyMap<string, Reference>
}

/** The key under which a revision is deployed unless another one is chosen (contract/environments 1). */
export function defaultKey(artifactSlug: string): string {
  return `${artifactSlug}.revision`
}

/** What of a pin refers to artifacts of the family, whichever of its names was used; undefined if nothing does. */
export function referencesTo(family: Family, { references }: Pin): References | undefined {
  for (const name of [family.name, ...(family.aliases ?? [])]) {
    const [artifact, variant, revision] = ['', '_variant', '_revision'].map((level) =>
      references.get(`${name}${level}`),
    )
    if (artifact ?? variant ?? revision) return { artifact, variant, revision }
  }
  return undefined
}
