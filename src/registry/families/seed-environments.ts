import { Refusal } from '../../errors.ts'
import { createArtifact } from '../artifacts/create-artifact.ts'
import type { Registry } from '../store/registry.ts'

/** The author of the seeded environments. */
const SEEDER = {
  id: '00000000-0000-0000-0000-000000000000',
  name: 'Branchpoint',
  email: 'registry@branchpoint.local',
}

const SEEDS = ['development', 'staging', 'production']

/**
 * Creates the environments that every project starts with (interface 9.2), each with a variant and no
 * revision. Leaves a project alone that has an environment made with a key, or that already has all of these;
 * finishes what a crash interrupted.
 */
export async function seedEnvironments(registry: Registry): Promise<void> {
  const family = registry.environments
  const there = [...(await registry.index.list(family))]
  if (there.some(({ record }) => record.created_by_id !== SEEDER.id)) return
  for (const slug of SEEDS) {
    // An environment that exists but is unreadable, or was removed, is not recreated.
    if (registry.store.exists(family.folder, slug)) continue
    if (await registry.store.trash.wasPurged(family.folder, slug)) continue
    const seed = { slug, header: { name: slug }, withVariant: {}, loc: ['environments', slug] }
    try {
      await createArtifact(registry, family, seed, { actor: SEEDER })
    } catch (error) {
      // Another server that opens the project for the first time was faster.
      if (!(error instanceof Refusal) || error.code !== 'slug_taken') throw error
    }
  }
}
