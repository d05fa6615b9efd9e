import { expect } from 'chai'
import { memoryFs } from '../../src/git/memory-fs.ts'
import { Store } from '../../src/git/store.ts'
import { environmentFamily } from '../../src/resources/environments/environment-family.ts'
import { workflowFamily } from '../../src/resources/workflows/workflow-family.ts'
import { commitRevision } from '../../src/versioning/commit-revision.ts'
import { createArtifact } from '../../src/versioning/create-artifact.ts'
import { defaultVariantOrNew } from '../../src/versioning/default-variant.ts'
import { deployRevision } from '../../src/versioning/deploy-revision.ts'
import type { Family } from '../../src/versioning/family.ts'
import { Registry } from '../../src/versioning/registry.ts'
import { readRevisionAt } from '../../src/versioning/revision.ts'
import { failingFs } from '../git/failing-fs.ts'

const context = { actor: { id: 'id', name: 'Ann', email: 'ann@example.com' } }
const MIRROR = 'refs/environments/live'

describe('versioning: the mirrors of deployments', () => {
  it('follow again after the disk failed while others waited for their turn', async () => {
    const disk = failingFs(memoryFs())
    const store = await Store.open(disk.fs, '/store')
    const settings = { servicesBase: 'http://localhost/services', now: () => new Date() }
    const families = [workflowFamily, environmentFamily]
    const registry = new Registry(await store.project('default'), families, settings)
    await registry.index.load()
    const made = async (family: Family, slug: string) => {
      const artifact = await createArtifact(
        registry,
        family,
        { slug, header: {}, withVariant: {}, loc: [] },
        context,
      )
      return defaultVariantOrNew(registry, artifact, context)
    }
    const to = await made(environmentFamily, 'live')
    const { place } = await commitRevision(
      registry,
      await made(workflowFamily, 'bot'),
      { header: {}, loc: [], mustBeFirst: true },
      context,
    )
    const revision = await readRevisionAt(registry, place)
    const deploy = (key?: string) =>
      deployRevision(registry, revision, to, { entity: 'workflow', key, loc: [] }, context)

    disk.failIf((_, path) => path.includes(MIRROR))
    const failed = await Promise.allSettled([deploy(), deploy('qa'), deploy('eu')])
    expect(failed.map(({ status }) => status)).to.include('rejected')
    disk.failIf(() => false)
    await deploy('us')
    expect(place.artifact.repository.refs().refs.get(MIRROR)).to.equal(place.oid)
  })
})
