import { expect } from 'chai'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { environmentFamily } from '../../../src/registry/families/environment-surface.ts'
import { workflowFamily } from '../../../src/run/handlers/workflows.ts'
import { commitRevision } from '../../../src/registry/revisions/commit-revision.ts'
import { deployRevision } from '../../../src/registry/environments/deploy-revision.ts'
import { readRevisionAt } from '../../../src/registry/revisions/revision.ts'
import { failingFs } from '../../support/disk/failing-fs.ts'
import { context, memoryRegistry, newVariant } from '../memory-registry.ts'

const MIRROR = 'refs/environments/live'

describe('versioning: the mirrors of deployments', () => {
  it('follow again after the disk failed while others waited for their turn', async () => {
    const disk = failingFs(memoryFs())
    const registry = await memoryRegistry(disk.fs)
    const to = await newVariant(registry, environmentFamily, 'live')
    const bot = await newVariant(registry, workflowFamily, 'bot')
    const first = { header: {}, loc: [], mustBeFirst: true }
    const { revision: place } = await commitRevision(registry, bot, first, context)
    const revision = await readRevisionAt(place)
    const deploy = (key?: string) =>
      deployRevision(registry, revision, to, { entity: 'workflow', key, loc: [] }, context)

    disk.failIf((_, path) => path.includes(MIRROR))
    const failed = await Promise.allSettled([deploy(), deploy('qa'), deploy('eu')])
    expect(failed.map(({ status }) => status)).to.include('rejected')
    disk.failIf(() => false)
    await deploy('us')
    expect(place.artifact.repository.refs.shared().refs.get(MIRROR)).to.equal(place.oid)
  })
})
