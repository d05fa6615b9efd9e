import { expect } from 'chai'
import { CRASHES, crashed, type Crash } from '../../proofs/crash/crash.ts'
import { SimulatedDisk } from '../../../test/support/disk/simulated-disk.ts'
import { randomFrom } from '../../../test/support/values/random.ts'
import type { NewRepository } from '../../../src/git/store/create-repository.ts'
import { encodeCommit, type ObjectKind, hashObject, encodeTree } from '../../../src/git/objects/object.ts'
import type { Repository } from '../../../src/git/store/repository.ts'
import type { ProjectStore } from '../../../src/git/store/project-store.ts'
import { Store } from '../../../src/git/store/store.ts'
import { commitOn } from '../../../test/support/git/commit-on.ts'

const STORE = '/srv/data/store'
const FOLDER = `${STORE}/default/workflows`
const LIVE = `${FOLDER}/bot.git`
const MAIN = 'refs/heads/main'
const OTHER = 'refs/heads/other'

describe('crash: a new repository', () => {
  for (const size of ['small', 'large']) {
    it(`that is ${size} is there whole or not at all, wherever it stops; once it is answered it is there`, async () => {
      const disk = new SimulatedDisk(randomFrom(1))
      const { project } = await opened(disk)
      const content = newRepository(size === 'large' ? 3000 : 1)
      const cuts: [Crash, SimulatedDisk][] = []
      disk.watch(() => {
        for (const how of CRASHES) cuts.push([how, crash(disk, how)])
        // Those of a large pack in the making are all alike.
        cuts.splice(0, cuts.length - 40 * CRASHES.length)
      })
      await create(project, content)
      disk.watch(() => undefined)
      let there = 0
      for (const [how, left] of cuts) there += (await expectWholeOrAbsent(left, content, how)) ? 1 : 0
      expect(there, 'cuts after the decision').to.be.greaterThan(3)
      for (const how of CRASHES)
        expect(await expectWholeOrAbsent(crash(disk, how), content, how), how).to.equal(true)
    })
  }

  it('that was written to at once is there with what was written', async () => {
    const disk = new SimulatedDisk(randomFrom(1))
    const { project } = await opened(disk)
    await create(project, newRepository())
    const head = await project.repository('workflows', 'bot').transact(async (transaction) => {
      transaction.setDerivedRef('HEAD', 'ref: refs/heads/other')
      return commitOn(transaction, MAIN, 'two')
    })
    for (const how of CRASHES) {
      for (let seed = 1; seed <= 5; seed++) {
        const { project: again } = await opened(crashed(disk.state, how, randomFrom(seed)))
        const snapshot = again.repository('workflows', 'bot').refs.shared()
        expect([snapshot.refs.get(MAIN), snapshot.head], how).to.deep.equal([head, 'refs/heads/other'])
      }
    }
  })

  it('that another server wrote to before it was settled is there with what that settled', async () => {
    const disk = new SimulatedDisk(randomFrom(1))
    const { project } = await opened(disk)
    await create(project, newRepository())
    const { store, project: other } = await opened(disk)
    const head = await other
      .repository('workflows', 'bot')
      .transact(async (transaction) => commitOn(transaction, MAIN, 'two'))
    await store.checkpoint()
    for (const how of CRASHES) {
      for (let seed = 1; seed <= 5; seed++) {
        const { project: again } = await opened(crashed(disk.state, how, randomFrom(seed)))
        expect(again.repository('workflows', 'bot').refs.shared().refs.get(MAIN), how).to.equal(head)
        expect(await again.repository('workflows', 'bot').objects.has(head), how).to.equal(true)
      }
    }
  })

  it('that could not be settled keeps what was written to it since, settled or not', async () => {
    const disk = new SimulatedDisk(randomFrom(1))
    const { store, project } = await opened(disk)
    const { objects, refs, head } = newRepository()
    const [main] = refs.values()
    if (main === undefined) expect.fail('no commit')
    await create(project, { objects, refs: new Map([...refs, [OTHER, main]]), head })
    disk.watch(({ call }) => (call === 'sync' ? { code: 'EIO' } : undefined))
    await store.checkpoint()
    disk.watch(() => undefined)
    // Absent, as it was before it was made: a start that knew of the creation only would make it again.
    const repository = project.repository('workflows', 'bot')
    await repository.transact(async (transaction) => transaction.removeDerivedRef(OTHER))
    await store.checkpoint()
    for (const how of CRASHES) {
      for (let seed = 1; seed <= 5; seed++) {
        const { project: again } = await opened(crashed(disk.state, how, randomFrom(seed)))
        expect(again.repository('workflows', 'bot').refs.shared().refs, how).to.deep.equal(refs)
      }
    }
  })

  it('that a server decided on and was killed before it had its name, gets it from the next that wants a slug', async () => {
    const disk = new SimulatedDisk(randomFrom(1))
    const { project } = await opened(disk)
    const left: SimulatedDisk[] = []
    disk.watch(({ call, path }) => {
      if (call === 'rename' && path === LIVE) left.push(crash(disk, 'killed'))
    })
    await create(project, newRepository())
    expect(left).to.have.length(1)
    const [killed] = left
    if (!killed) return
    // A server that runs beside it: it was open before, so no start has looked at the journal.
    const { other } = await besides(killed)
    expect(other.slugs('workflows')).to.deep.equal([])
    await other.claimingSlugs(async () => undefined)
    expect(killed.fs.stat(LIVE)?.kind).to.equal('folder')
    const refused = await create(other, newRepository()).catch((error: { code?: string }) => error.code)
    expect(refused).to.equal('slug_taken')
  })

  it('that was removed for good is not made again', async () => {
    const disk = new SimulatedDisk(randomFrom(1))
    const { project } = await opened(disk)
    await create(project, newRepository())
    await project.claimingSlugs(() =>
      project.trash.put('workflows', 'bot', 'stamp', { others: [], check: async () => undefined }),
    )
    await project.trash.purge('workflows', 'bot')
    for (const how of CRASHES) {
      const left = crash(disk, how)
      await opened(left)
      expect(
        [left.fs.stat(LIVE), left.fs.stat(`${STORE}/default/.trash/workflows/bot.git`)],
        how,
      ).to.deep.equal([undefined, undefined])
    }
  })
})

async function opened({ fs }: SimulatedDisk): Promise<{ store: Store; project: ProjectStore }> {
  const store = await Store.open(fs, STORE)
  return { store, project: await store.project('default') }
}

/** A server that opened the store while the one that died was alive: it has not looked at its journal. */
async function besides({ fs }: SimulatedDisk): Promise<{ other: ProjectStore }> {
  const journals = fs.readDir(`${STORE}/.journal`) ?? []
  for (const name of journals) fs.rename(`${STORE}/.journal/${name}`, `${STORE}/${name}`)
  const { project: other } = await opened({ fs } as SimulatedDisk)
  for (const name of journals) fs.rename(`${STORE}/${name}`, `${STORE}/.journal/${name}`)
  return { other }
}

function create(project: ProjectStore, content: NewRepository): Promise<Repository> {
  return project.claimingSlugs(() => project.create('workflows', 'bot', content))
}

function newRepository(blobs = 1): NewRepository {
  const objects: { oid: string; kind: ObjectKind; bytes: Buffer }[] = []
  const add = (kind: ObjectKind, bytes: Buffer): string => {
    const oid = hashObject(kind, bytes)
    objects.push({ oid, kind, bytes })
    return oid
  }
  for (let n = 0; n < blobs; n++) add('blob', Buffer.from(`${n}`))
  const author = { name: 'a', email: 'a@b.c', seconds: 1_700_000_000, timezone: '+0000' }
  const tree = add('tree', encodeTree([]))
  const head = add('commit', encodeCommit({ tree, parents: [], author, committer: author, message: 'one' }))
  return { objects, refs: new Map([[MAIN, head]]), head: 'main' }
}

/** Whether a start finds the repository, which must be whole then, and served by a name and nothing else left of it. */
async function expectWholeOrAbsent(left: SimulatedDisk, { refs, objects }: NewRepository, how: Crash) {
  const { fs } = left
  const { store, project } = await opened(left)
  const slugs = project.slugs('workflows')
  const names = fs.readDir(FOLDER) ?? []
  expect(names, how).to.deep.equal(slugs.map((slug) => `${slug}.git`))
  if (slugs.length === 0) return false
  const repository = project.repository('workflows', 'bot')
  expect(repository.refs.shared(), how).to.deep.equal({ refs, head: MAIN })
  expect(fs.readFile(`${LIVE}/config`)?.toString()).to.contain('bare = true')
  for (const { oid } of objects.slice(-5)) expect(await repository.objects.has(oid), how).to.equal(true)
  await store.close()
  return true
}

function crash(disk: SimulatedDisk, how: Crash): SimulatedDisk {
  return crashed(disk.state, how, randomFrom(1))
}
