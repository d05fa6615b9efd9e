import { expect } from 'chai'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createApiKey } from '../../../src/access/keys/api-keys.ts'
import { readApiKeyFile } from '../../../src/access/keys/key-file.ts'
import { transactAcross } from '../../../src/git/store/repository.ts'
import { encodeTree } from '../../../src/git/objects/object.ts'
import type { ProjectStore } from '../../../src/git/store/project-store.ts'
import { countObjects, maintain } from '../../../src/git/maintenance/maintain.ts'
import { openQuarantine } from '../../../src/git/receive/quarantine.ts'
import { Store } from '../../../src/git/store/store.ts'
import { workflowFamily } from '../../../src/run/handlers/workflows.ts'
import { createArtifact } from '../../../src/registry/artifacts/create-artifact.ts'
import { trashArtifact } from '../../../src/registry/artifacts/trash-artifact.ts'
import { commitOn } from '../../../test/support/git/commit-on.ts'
import { checkRecovered } from '../../proofs/crash/check-recovered.ts'
import { context } from '../../proofs/crash/crash-write.ts'
import { type Crash, crashed } from '../../proofs/crash/crash.ts'
import { GitOnDisk } from '../../../test/support/disk/git-on-disk.ts'
import { openServer, STORE } from '../../proofs/crash/open-server.ts'
import { randomPush } from '../../proofs/crash/random-push.ts'
import { randomFrom } from '../../../test/support/values/random.ts'
import { SimulatedDisk } from '../../../test/support/disk/simulated-disk.ts'

const GITDIR = '/srv/data/store/default/workflows/bot.git'
const MAIN = 'refs/heads/main'

// What the simulation found, each fault by itself.
describe('crash: what was once lost or left', () => {
  it('a first start that was cut off leaves no store that cannot be opened', async () => {
    const disk = newDisk()
    const left: SimulatedDisk[] = []
    disk.watch(() => void left.push(crash(disk, 'everything'), crash(disk, 'names without bytes')))
    await Store.open(disk.fs, '/srv/data/store')
    expect(left).to.have.length.greaterThan(10)
    for (const { fs } of left) await Store.open(fs, '/srv/data/store')
  })

  it('the folders above a new store are on the disk before anything is answered', async () => {
    const disk = newDisk()
    await createBot(disk)
    const { fs } = crash(disk, 'nothing unsynced')
    await Store.open(fs, '/srv/data/store')
    expect(fs.stat(`${GITDIR}/config`)).not.to.equal(undefined)
  })

  it('so are those above it that a first start made and was stopped before it could sync their names', async () => {
    for (let step = 1; ; step++) {
      const disk = newDisk()
      let isOver = true
      disk.watch(({ number }) => {
        if (number === step) isOver = false
        return number >= step ? { code: 'EIO' } : undefined
      })
      await Store.open(disk.fs, '/srv/data/store').catch(() => undefined)
      disk.watch(() => undefined)
      await createBot(disk)
      const { fs } = crash(disk, 'nothing unsynced')
      await Store.open(fs, '/srv/data/store')
      expect(fs.stat(`${GITDIR}/config`), `${step}`).not.to.equal(undefined)
      if (isOver) break
    }
  })

  it('a removal whose sync fails loses nothing of what the journal had not synced yet', async () => {
    // What a failed sync leaves of a file is a matter of chance.
    for (let seed = 1; seed <= 6; seed++)
      for (const name of ['HEAD', 'config', '.pack']) {
        const disk = new SimulatedDisk(randomFrom(seed))
        const server = await openServer(disk.fs)
        const { registry, store } = server
        await createArtifact(registry, workflowFamily, { slug: 'w', header: {}, loc: [] }, context)
        const [artifact] = await registry.index.list(workflowFamily)
        if (!artifact) throw new Error('no artifact was made')
        let failures = 0
        disk.watch(({ call, path }) =>
          call === 'synced' && path.endsWith(name) && failures++ === 0 ? { code: 'EIO' } : undefined,
        )
        const removing = trashArtifact(registry, artifact, context, async () => [])
        expect(await removing.catch(({ code }: NodeJS.ErrnoException) => code)).to.equal('EIO')
        disk.watch(() => undefined)
        await store.checkpoint()
        const history = { facts: [], together: [], made: [], removals: [] }
        await checkRecovered(crashed(disk.state, 'nothing unsynced', randomFrom(1)), history, disk.steps)
        await server.close()
      }
  })

  it('so is a folder that a process made and was killed before it could sync its name', async () => {
    const disk = newDisk()
    for (const folder of ['/store', '/store/default', '/store/default/workflows']) disk.fs.makeDir(folder)
    const { fs } = crash(disk, 'nothing unsynced')
    expect(fs.stat('/store')).to.equal(undefined)
    await createApiKey(disk.fs, '/store', { project: 'default', name: 'ci', scopes: ['read'] })
    await disk.fs.syncDir('/')
    expect(readApiKeyFile(crash(disk, 'nothing unsynced').fs, '/store', 'default')).to.have.length(1)
  })

  it('the first journal of a store is found, although its folder was new', async () => {
    const disk = newDisk()
    const { store, repository } = await createBot(disk)
    const oid = await repository.transact(async (transaction) => commitOn(transaction, MAIN, 'one'))
    const { fs } = crash(disk, 'nothing unsynced')
    await Store.open(fs, '/srv/data/store')
    expect(fs.readFile(`${GITDIR}/${MAIN}`)?.toString()).to.equal(`${oid}\n`)
    await store.close()
  })

  it('a start does what a killed server decided for two repositories only once that is on the disk', async () => {
    const disk = newDisk()
    const { project, repository } = await createBot(disk)
    await project.create('workflows', 'other', { objects: [], refs: new Map(), head: 'main' })
    const other = project.repository('workflows', 'other')
    const repositories = [repository, other]
    const both = (message: string) =>
      transactAcross(repositories, async (parts) => {
        for (const part of parts) commitOn(part, MAIN, message)
      })
    await both('first')
    disk.flush()
    const killed: SimulatedDisk[] = []
    // Refs move after the sync of the journal, so before its end nothing else tells of the write.
    disk.watch(({ path }) => void (path.includes('/.journal/') && killed.push(crash(disk, 'killed'))))
    await both('second')
    let cuts = 0
    for (const left of killed) {
      const cut: SimulatedDisk[] = []
      left.watch(() => void cut.push(crashed(left.state, 'names without bytes', randomFrom(1), 2)))
      await Store.open(left.fs, '/srv/data/store')
      for (const { fs } of cut) {
        cuts++
        const store = await Store.open(fs, '/srv/data/store')
        const there = await store.project('default')
        const messages = ['bot', 'other'].map((slug) => messageOfMain(there, slug))
        expect(new Set(await Promise.all(messages)).size).to.equal(1)
      }
    }
    expect(cuts).to.be.greaterThan(20)
  })

  it('a start moves all the refs that a killed server decided to move together in one repository', async () => {
    const disk = newDisk()
    const { repository } = await createBot(disk)
    await repository.transact(async (transaction) => commitOn(transaction, MAIN, 'first'))
    const killed: SimulatedDisk[] = []
    disk.watch(({ call }) => void (call === 'rename' && killed.push(crash(disk, 'killed'))))
    await repository.transact(async (transaction) => {
      const oid = commitOn(transaction, MAIN, 'second')
      transaction.move('refs/heads/other', oid)
      transaction.move('refs/tags/both', oid)
    })
    let moved = 0
    for (const { fs } of killed) {
      const project = await (await Store.open(fs, '/srv/data/store')).project('default')
      const { refs } = project.repository('workflows', 'bot').refs.shared()
      const there = ['refs/heads/other', 'refs/tags/both'].filter((ref) => refs.has(ref))
      expect(there).to.have.length(there.length > 0 ? 2 : 0)
      if (there.length > 0) {
        moved++
        expect(refs.get(MAIN)).to.equal(refs.get('refs/tags/both'))
      }
    }
    expect(moved).to.be.greaterThan(1)
  })

  it('a lock whose owner file a power cut took is removed by the next start', async () => {
    const disk = newDisk()
    await createBot(disk)
    disk.fs.makeDir(`${GITDIR}/refs/heads`)
    disk.fs.create(`${GITDIR}/${MAIN}.lock`, Buffer.alloc(0))
    const { fs } = crash(disk, 'everything')
    const project = await (await Store.open(fs, '/srv/data/store')).project('default')
    const repository = project.repository('workflows', 'bot')
    await repository.sweepLeftovers()
    expect(fs.readDir(`${GITDIR}/refs/heads`)).to.deep.equal([])
  })

  it('a quarantine is removed by the next start, also where a power cut took what else a push makes', async () => {
    const disk = newDisk()
    await createBot(disk)
    openQuarantine(disk.fs, GITDIR)
    for (const folder of [`${GITDIR}/objects`, `${GITDIR}/locks`]) await disk.fs.syncDir(folder)
    disk.fs.removeFolder(`${GITDIR}/locks`)
    const { fs } = crash(disk, 'everything')
    const repository = (await (await Store.open(fs, '/srv/data/store')).project('default')).repository(
      'workflows',
      'bot',
    )
    expect(fs.stat(`${GITDIR}/locks`)).to.equal(undefined)
    await repository.sweepLeftovers()
    expect(fs.readDir(`${GITDIR}/objects`)?.filter((name) => name.startsWith('incoming-'))).to.deep.equal([])
  })

  it('what git was writing when the power failed is removed by the next start, and not while git may be at it', async () => {
    const disk = newDisk()
    const { repository } = await createBot(disk)
    const unfinished = [
      'packed-refs.lock',
      'packed-refs.new',
      'objects/info/commit-graph.lock',
      'objects/pack/tmp_pack_x7Gh2a',
      'objects/pack/.tmp-77-pack-1f02d5eef628c0e23819c3f6683a389ae061357d.idx',
    ]
    disk.fs.makeDir(`${GITDIR}/objects/info`)
    for (const name of unfinished) disk.fs.create(`${GITDIR}/${name}`, Buffer.from('half'))
    await repository.sweepLeftovers()
    expect(unfinished.filter((name) => disk.fs.stat(`${GITDIR}/${name}`))).to.deep.equal(unfinished)
    for (const name of unfinished) {
      // Each by itself has to be found.
      const { fs } = crash(disk, 'everything')
      for (const other of unfinished) if (other !== name) fs.remove(`${GITDIR}/${other}`)
      const project = await (await Store.open(fs, '/srv/data/store')).project('default')
      const there = project.repository('workflows', 'bot')
      await there.sweepLeftovers()
      expect(fs.stat(`${GITDIR}/${name}`), name).to.equal(undefined)
    }
  })

  it('upkeep lets nothing go before the name of what stands for it is on the disk', async () => {
    const disk = newDisk()
    const git = new GitOnDisk(disk, STORE)
    try {
      const tips: string[] = []
      // A server for each, so that each has a pack of its own; the first puts what was there from the beginning into its.
      for (const name of ['one', 'two', 'three', 'four']) {
        const store = await Store.open(git.fs, STORE)
        const project = await store.project('default')
        if (tips.length === 0)
          await project.create('workflows', 'bot', { objects: [], refs: new Map(), head: 'main' })
        await project.repository('workflows', 'bot').transact(async (transaction) => {
          tips.push(commitOn(transaction, MAIN, name))
          transaction.move(`refs/tags/${name}`, tips.at(-1) ?? '')
        })
        await store.close()
      }
      const gitdir = `${STORE}/default/workflows/bot.git`
      expect(countObjects(disk.fs, gitdir)).to.include({ packs: 4, looseRefs: 5 })
      disk.flush()
      const left: SimulatedDisk[] = []
      disk.watch(() => void left.push(crash(disk, 'removals only')))
      await maintain(git.fs, gitdir, { anyway: true })
      expect(countObjects(disk.fs, gitdir)).to.include({ packs: 1, looseRefs: 0 })
      for (const { fs } of left) {
        const there = (await (await Store.open(fs, STORE)).project('default')).repository('workflows', 'bot')
        expect(there.refs.shared().refs.get(MAIN)).to.equal(tips.at(-1))
        expect(there.refs.shared().refs.size).to.equal(5)
        for (const tip of tips) expect(await there.objects.has(tip)).to.equal(true)
      }
    } finally {
      git.close()
    }
  })

  for (const isLarge of [false, true]) {
    it(`a ${isLarge ? 'large' : 'small'} push is on the disk when it is answered`, async () => {
      const disk = newDisk()
      const git = new GitOnDisk(disk, STORE)
      try {
        const server = await openServer(git.fs)
        const input = { slug: 'bot', header: {}, withVariant: {}, loc: [] }
        const { repository } = await createArtifact(server.registry, workflowFamily, input, context)
        disk.flush()
        const push = await randomPush(server, { ...randomFrom(1), chance: () => isLarge }, 1)
        await push?.run(server)
        const { refs } = repository.refs.snapshot()
        expect([...refs.keys()].some((ref) => /^refs\/heads\//.test(ref))).to.equal(true)
        const fact = { since: 0, write: 'push', refs: { folder: repository.path, refs } }
        const left = crash(disk, 'nothing unsynced')
        await checkRecovered(left, { facts: [fact], together: [], made: [], removals: [] }, 0)
        await server.close()
      } finally {
        git.close()
      }
    })
  }

  it('a large pack that a power cut kept from its ref is let go of, and rolled up like any other', async () => {
    const disk = newDisk()
    const { store, project, repository } = await createBot(disk)
    await store.checkpoint()
    const builder = repository.packBuilder()
    builder.add('tree', encodeTree([]))
    const pack = (await builder.finish())!
    pack.publish()
    await pack.syncNames()
    for (const how of ['nothing unsynced', 'names without bytes', 'everything'] as const) {
      const { fs } = crash(disk, how)
      const there = await (await Store.open(fs, '/srv/data/store')).project('default')
      expect(packFiles(fs), how).to.include(`${pack.name}.keep`)
      const found = there.repository('workflows', 'bot')
      await found.sweepLeftovers()
      expect(packFiles(fs), how).not.to.include(`${pack.name}.keep`)
    }
    expect(project.slugs('workflows')).to.deep.equal(['bot'])
  })

  it('a lock that could not be let go of, because the disk failed, holds up nobody afterwards', async () => {
    const disk = newDisk()
    const { project } = await createBot(disk)
    disk.watch(({ call, path }) =>
      call === 'remove' && path.endsWith('slugs.lock') ? { code: 'EIO' } : undefined,
    )
    expect(await project.claimingSlugs(async () => 'done')).to.equal('done')
    disk.watch(() => undefined)
    // Else refused with `locked`, after five seconds.
    expect(await project.claimingSlugs(async () => 'again')).to.equal('again')
    // The lock is let go of once its work is done.
    await nextTurn()
    expect(disk.fs.readDir('/srv/data/store/default')).not.to.include('slugs.lock')
  })
})

function packFiles(fs: SimulatedDisk['fs']): string[] {
  return fs.readDir(`${GITDIR}/objects/pack`) ?? []
}

async function messageOfMain(project: ProjectStore, slug: string): Promise<string | undefined> {
  const repository = project.repository('workflows', slug)
  const oid = repository.refs.shared().refs.get(MAIN) ?? ''
  return (await repository.objects.readKind(oid, 'commit'))?.toString().split('\n\n')[1]
}

function newDisk(): SimulatedDisk {
  return new SimulatedDisk(randomFrom(1))
}

function crash(disk: SimulatedDisk, how: Crash): SimulatedDisk {
  return crashed(disk.state, how, randomFrom(1))
}

async function createBot({ fs }: SimulatedDisk) {
  const store = await Store.open(fs, '/srv/data/store')
  const project: ProjectStore = await store.project('default')
  await project.create('workflows', 'bot', { objects: [], refs: new Map(), head: 'main' })
  return { store, project, repository: project.repository('workflows', 'bot') }
}
