import { maintain } from '../../../src/git/maintenance/maintain.ts'
import type { Plan } from './crash-write.ts'

/** Upkeep of some repository, as a server and `branchpoint maintain` do it. */
export const randomUpkeep: Plan = async ({ registry }, random, n) => {
  const family = random.pick(registry.families)
  const artifact = family && random.pick([...(await registry.index.list(family))])
  return (
    artifact && {
      name: `keep up ${artifact.slug} (${n})`,
      run: async ({ fs }) => {
        await maintain(fs, artifact.repository.path, { anyway: true })
        return { artifacts: [artifact] }
      },
    }
  )
}
