import type { Json } from '../json/json.ts'
import type { Warning } from './family.ts'
import type { Registry } from './registry.ts'
import type { RevisionPlace } from './revision.ts'

/**
 * What the sender of a committed payload was told of it, worked out again. `sent` is the payload as it was sent; without it
 * (a delta) the stored one is looked at, which no longer shows what was left out of it.
 */
export async function warningsOf(
  registry: Registry,
  { artifact, oid }: RevisionPlace,
  sent: Json | undefined,
): Promise<readonly Warning[]> {
  const { family, repository } = artifact
  const context = { loc: [], servicesBase: registry.servicesBase }
  if (sent !== undefined) return (await family.accept(sent, context)).warnings
  const { payload } = await registry.revisions(family).read(repository.objects, oid)
  return payload ? family.warnings(payload, context) : []
}
