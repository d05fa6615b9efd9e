import { expect } from 'chai'
import type { Fs } from '../../src/storage/files/fs.ts'
import { memoryFs } from '../../src/storage/memory-fs.ts'
import { identityName, thisProcess } from '../../src/storage/files/process-identity.ts'
import { Store } from '../../src/git/store/store.ts'
import { workflowFamily } from '../../src/run/handlers/workflows.ts'
import { createArtifact } from '../../src/registry/artifacts/create-artifact.ts'
import { createVariant } from '../../src/registry/variants/create-variant.ts'
import type { OpenRegistry } from '../../src/registry/store/open-registry.ts'
import { openRegistry } from '../../src/registry/store/open-registry.ts'
import { context, memoryRegistry } from './memory-registry.ts'

const GITDIR = '/store/default/workflows/bot.git'
const dead = identityName({ ...thisProcess(), pid: 999_999_999, start: '1' })
const alive = identityName(thisProcess())

/** What a process leaves that dies in the middle of a write or a push. */
const leftoversOf = (process: string): Readonly<Record<string, string>> => ({
  'a staged pack': `objects/pack/tmp_${process}.901_pack`,
  'a quarantine': `objects/incoming-${process}.901/objects/pack`,
  'the owner file of a lock': `locks/${process}.901`,
})
const LEFT = Object.values(leftoversOf(dead))

describe('versioning: a project that is opened', () => {
  for (const [what, path] of Object.entries(leftoversOf(dead))) {
    it(`is served with ${what} of a dead process, and rid of it once its leftovers are swept`, async () => {
      const fs = await storeWith([path])
      const { registry, sweepLeftovers, close } = await openStore(fs)
      expect(registry.index.size).to.equal(1)
      expect(isThere(fs, path)).to.equal(true)
      await sweepLeftovers()
      expect(isThere(fs, path)).to.equal(false)
      close()
    })
  }

  it('keeps what a living process is at', async () => {
    const theirs = Object.values(leftoversOf(alive))
    const fs = await storeWith(theirs)
    const { sweepLeftovers, close } = await openStore(fs)
    await sweepLeftovers()
    expect(theirs.filter((path) => isThere(fs, path))).to.deep.equal(theirs)
    close()
  })

  it('is written to before, past the lock of a dead process', async () => {
    const lock = 'refs/meta/artifact.lock'
    const fs = await storeWith([`locks/${dead}.7`])
    fs.makeDir(`${GITDIR}/refs/meta`)
    fs.link(`${GITDIR}/locks/${dead}.7`, `${GITDIR}/${lock}`)
    const { registry, sweepLeftovers, close } = await openStore(fs)
    const bot = await registry.index.findBySlug(workflowFamily, 'bot')
    if (!bot) throw new Error('it is not served')
    await createVariant(registry, bot, { slug: 'warmer', header: {}, loc: [] }, context)
    await sweepLeftovers()
    expect([lock, `locks/${dead}.7`].filter((path) => isThere(fs, path))).to.deep.equal([])
    close()
  })

  it('leaves them to the next start when it is closed first', async () => {
    const fs = await storeWith(LEFT)
    const { sweepLeftovers, close } = await openStore(fs)
    close()
    await sweepLeftovers()
    expect(LEFT.filter((path) => isThere(fs, path))).to.deep.equal(LEFT)
  })
})

/** A store with one workflow, and these files in its repository; folders, where the path is that of packs. */
async function storeWith(paths: readonly string[]): Promise<Fs> {
  const fs = memoryFs()
  await createArtifact(
    await memoryRegistry(fs),
    workflowFamily,
    { slug: 'bot', header: {}, withVariant: {}, loc: [] },
    context,
  )
  fs.makeDir(`${GITDIR}/locks`)
  for (const path of paths) {
    if (path.endsWith('/pack')) fs.makeDir(`${GITDIR}/${path}`)
    else fs.create(`${GITDIR}/${path}`, Buffer.from('x'))
  }
  return fs
}

async function openStore(fs: Fs): Promise<OpenRegistry> {
  const project = await (await Store.open(fs, '/store')).project('default')
  const settings = { servicesBase: 'http://localhost/services', now: () => new Date() }
  return openRegistry(project, [workflowFamily], settings)
}

function isThere(fs: Fs, path: string): boolean {
  return fs.stat(`${GITDIR}/${path.replace(/\/objects\/pack$/, '')}`) !== undefined
}
