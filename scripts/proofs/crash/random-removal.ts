import { trashArtifact, undeleteArtifact } from '../../../src/registry/artifacts/trash-artifact.ts'
import type { Plan } from './crash-write.ts'
import { context } from './crash-write.ts'
import { randomPlace } from './random-place.ts'

/** Removes some artifact; one that is or was deployed is refused. */
export const randomRemoval: Plan = async (server, random, n) => {
  const family = random.pick(server.registry.families)
  const artifact = family && (await randomPlace(server, random, family))?.artifact
  return (
    artifact && {
      name: `remove ${artifact.slug} (${n})`,
      removal: { folder: artifact.repository.path, isBack: false },
      run: async ({ registry }) => {
        await trashArtifact(registry, artifact, context, async () => [])
        return { artifacts: [] }
      },
    }
  )
}

/** Brings something back that was removed. */
export const randomReturn: Plan = async ({ registry }, random, n) => {
  const trashed = random.pick(await registry.trash.list())
  if (!trashed) return undefined
  const { repository, slug } = trashed.artifact
  return {
    name: `bring ${slug} back (${n})`,
    removal: { folder: repository.path.replace('/.trash/', '/'), isBack: true },
    run: async () => ({ artifacts: [await undeleteArtifact(registry, trashed, context)] }),
  }
}
