import type { Fs } from '../../src/storage/files/fs.ts'
import { memoryFs } from '../../src/storage/memory-fs.ts'
import { Store } from '../../src/git/store/store.ts'
import { environmentFamily } from '../../src/registry/families/environment-surface.ts'
import { workflowFamily } from '../../src/run/handlers/workflows.ts'
import { createArtifact } from '../../src/registry/artifacts/create-artifact.ts'
import { defaultVariantOrNew } from '../../src/registry/variants/default-variant.ts'
import { Mirrors } from '../../src/registry/environments/mirrors.ts'
import type { Family } from '../../src/registry/payload/family.ts'
import type { VariantLocation } from '../../src/registry/revisions/references.ts'
import { Registry } from '../../src/registry/store/registry.ts'

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
