import type { Oid } from '../../git/objects/object.ts'
import { equalJson } from '../../json/diff/equal-json.ts'
import type { Json, JsonObject } from '../../json/json.ts'
import { fromEntries } from '../../json/json.ts'
import { referencesTo } from '../../versioning/environments/pin.ts'
import type { Pin, Reference } from '../../versioning/reference.ts'
import type { Registry } from '../../versioning/registry.ts'
import type { Revision } from '../../versioning/revisions/revision.ts'
import type { Happening } from '../registry-event.ts'

/**
 * What a revision of an environment deployed and undeployed, against its parent: an event for each of the two, with the whole
 * difference (interface 13.9). Nothing for other families.
 */
export async function deploymentEvents(
  registry: Registry,
  { artifact, oid }: Revision,
  about: Omit<Happening, 'type'>,
): Promise<readonly Happening[]> {
  const { family, repository } = artifact
  if (!family.pins) return []
  const { parent } = await repository.history.node(oid)
  const pinsOf = async (commit: Oid | undefined): Promise<ReadonlyMap<string, Pin> | undefined> => {
    if (commit === undefined) return new Map()
    const { payload, damage } = await registry.revisions(family).readForList(repository.objects, commit)
    return damage ? undefined : new Map(payload && family.pins?.(payload).map((pin) => [pin.key, pin]))
  }
  const [before, after] = [await pinsOf(parent?.oid), await pinsOf(oid)]
  // What git brought and cannot be read deploys nothing, and undeploys nothing.
  if (!before || !after) return []
  const created = [...after.values()].filter(({ key }) => !before.has(key))
  const deleted = [...before.values()].filter(({ key }) => !after.has(key))
  const updated = [...after.values()].flatMap((pin): [Pin, Pin][] => {
    const old = before.get(pin.key)
    return old && !equalJson(jsonOf(old), jsonOf(pin)) ? [[old, pin]] : []
  })
  const diff = fromEntries([
    ['created', fromEntries(created.map((pin) => [pin.key, { new: jsonOf(pin) }]))],
    ['updated', fromEntries(updated.map(([old, pin]) => [pin.key, { old: jsonOf(old), new: jsonOf(pin) }]))],
    ['deleted', fromEntries(deleted.map((pin) => [pin.key, { old: jsonOf(pin) }]))],
  ])
  const deployed = artifactsOf(registry, [...created, ...updated.flat()])
  const undeployed = artifactsOf(registry, deleted)
  return [
    ...(created.length + updated.length > 0
      ? [{ ...about, type: 'environment.deployed' as const, diff, deployed }]
      : []),
    ...(deleted.length > 0
      ? [{ ...about, type: 'environment.undeployed' as const, diff, deployed: undeployed }]
      : []),
  ]
}

function jsonOf({ references }: Pin): JsonObject {
  return fromEntries(
    [...references].map(([name, { id, slug, version }]): [string, Json] => [
      name,
      fromEntries(
        Object.entries({ id, slug, version }).filter(
          (it): it is [string, string | number] => it[1] !== undefined,
        ),
      ),
    ]),
  )
}

/** What the pins say of the artifacts they are of: an id of anything in one ends in the same digits. */
function artifactsOf({ families }: Registry, pins: readonly Pin[]): Reference[] {
  return pins.flatMap((pin) =>
    families.flatMap((family) => {
      const { artifact, variant, revision } = referencesTo(family, pin) ?? {}
      const id = artifact?.id ?? variant?.id ?? revision?.id
      return id === undefined && artifact?.slug === undefined ? [] : [{ id, slug: artifact?.slug }]
    }),
  )
}
