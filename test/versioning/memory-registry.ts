import type { Fs } from '../../src/storage/fs.ts'
import { memoryFs } from '../../src/storage/memory-fs.ts'
import { Store } from '../../src/git/store.ts'
import { environmentFamily } from '../../src/resources/environments/environment-surface.ts'
import { workflowFamily } from '../../src/handlers/workflows.ts'
import { createArtifact } from '../../src/versioning/artifacts/create-artifact.ts'
import { defaultVariantOrNew } from '../../src/versioning/variants/default-variant.ts'
import { Mirrors } from '../../src/versioning/environments/mirrors.ts'
import type { Family } from '../../src/versioning/family/family.ts'
import type { VariantLocation } from '../../src/versioning/revisions/references.ts'
import { Registry } from '../../src/versioning/registry.ts'

/** Who writes in these tests. */
export const context = { actor: { id: 'id', name: 'Ann', email: 'ann@example.com' } }

/** A registry of workflows and environments in memory, or on the disk given; by the clock of this machine, or another one. */
export async function memoryRegistry(fs: Fs = memoryFs(), now = () => new Date()): Promise<Registry> {
  const store = await Store.open(fs, '/store')
  const settings = { servicesBase: 'http://localhost/services', now }
  const families = [workflowFamily, environmentFamily]
  const registry = new Registry(await store.project('default'), families, settings)
  new Mirrors(registry)
  await registry.index.load()
  return registry
}

/** The variant of a new artifact. */
export async function newVariant(registry: Registry, family: Family, slug: string): Promise<VariantLocation> {
  const sent = { slug, header: {}, withVariant: {}, loc: [] }
  return defaultVariantOrNew(registry, await createArtifact(registry, family, sent, context), context)
}
