import { isDeepStrictEqual } from 'node:util'
import type { Oid } from '../../git/objects.ts'
import type { Family } from '../payload/family.ts'
import { repositoryDigits } from '../store/ids.ts'
import type { Pin, Reference, References } from '../store/reference.ts'
import type { Registry } from '../store/registry.ts'
import type { Revision } from '../revisions/revision.ts'

/** The key under which a revision is deployed unless another one is chosen (interface 9.4). */
export function defaultKey(artifactSlug: string): string {
  return `${artifactSlug}.revision`
}

/** The references of a pin to artifacts of the family, under any of its names; undefined if there are none. */
export function referencesTo(family: Family, { references }: Pin): References | undefined {
  for (const name of [family.name, ...(family.aliases ?? [])]) {
    const [artifact, variant, revision] = ['', '_variant', '_revision'].map((level) =>
      references.get(`${name}${level}`),
    )
    if (artifact ?? variant ?? revision) return { artifact, variant, revision }
  }
  return undefined
}

/** Whether a revision of an environment changed its pins of these artifacts, compared with its parent. */
export async function changesPinOf(
  registry: Registry,
  { artifact, oid }: Revision,
  references: readonly Reference[],
): Promise<boolean> {
  const { parent } = await artifact.repository.history.node(oid)
  const pinned = async (commit: Oid | undefined): Promise<readonly Pin[]> => {
    if (commit === undefined) return []
    const { payload } = await artifact.revisions.readForList(artifact.repository.objects, commit)
    const pins = (payload && artifact.family.pins?.(payload)) ?? []
    return pins.filter((pin) => references.some((reference) => isOf(registry, pin, reference)))
  }
  return !isDeepStrictEqual(await pinned(oid), await pinned(parent?.oid))
}

/** Whether the pin names the artifact, by its reference or by the ids below it, which end in the same digits. */
function isOf({ families }: Registry, pin: Pin, { id, slug }: Reference): boolean {
  return families.some((family) => {
    const { artifact, variant, revision } = referencesTo(family, pin) ?? {}
    if (id === undefined) return slug !== undefined && artifact?.slug === slug
    return [artifact, variant, revision].some(
      (reference) => reference?.id !== undefined && repositoryDigits(reference.id) === repositoryDigits(id),
    )
  })
}
