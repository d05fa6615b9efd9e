import { expect } from 'chai'
import { recoverForDeadServers, Store } from '../../../src/git/store/store.ts'
import type { Fs } from '../../../src/storage/files/fs.ts'
import { transactAcross } from '../../../src/git/store/repository.ts'
import { Journal } from '../../../src/git/journal/journal.ts'
import { commitOn } from '../../../test/support/git/commit-on.ts'
import { crashed } from '../../proofs/crash/crash.ts'
import { imageOf } from '../../../test/support/disk/image.ts'
import { randomFrom } from '../../../test/support/values/random.ts'
import { SimulatedDisk } from '../../../test/support/disk/simulated-disk.ts'

const STORE = '/srv/data/store'
const MAIN = 'refs/heads/main'
const SLUGS = ['bot', 'other']

/** Who acts on the journal of a dead process. */
const FINISHERS: Readonly<Record<string, (fs: Fs) => Promise<unknown>>> = {
  'the next start': (fs) => Store.open(fs, STORE),
  'a server that runs beside it': (fs) => recoverForDeadServers(fs, STORE),
  'who takes a lock over': async (fs) => {
    for (const dead of fs.readDir(`${STORE}/.journal`) ?? []) await new Journal(fs, STORE).finishFor(dead)
  },
}

// A killed server may have made the folder of journals, and not have come to sync its name.
describe('crash: a server is killed at the first write of a store, and the power fails', () => {
  let killed: readonly SimulatedDisk[]

  before(async () => {
    const disk = new SimulatedDisk(randomFrom(1))
    const store = await Store.open(disk.fs, STORE)
    const project = await store.project('default')
    for (const slug of SLUGS)
      await project.create('workflows', slug, { objects: [], refs: new Map(), head: 'main' })
    const left: SimulatedDisk[] = []
    // Until the folder's own name is synced: that is the last thing done before refs move.
    disk.watch(({ path }) => {
      if (path === STORE || path.includes('/.journal'))
        left.push(crashed(disk.state, 'killed', randomFrom(1)))
    })
    const repositories = SLUGS.map((slug) => project.repository('workflows', slug))
    await transactAcross(repositories, async (parts) => {
      for (const part of parts) commitOn(part, MAIN, 'first')
    })
    disk.watch(() => undefined)
    await store.close()
    killed = left
  })

  for (const [who, finish] of Object.entries(FINISHERS)) {
    it(`while ${who} finishes it: it is there in both repositories with its objects, or in none`, async () => {
      let cuts = 0
      for (const { state } of killed) {
        const disk = crashed(state, 'killed', randomFrom(1))
        const left = new Map<string, Fs>()
        disk.watch(({ number }) => {
          for (const how of ['nothing unsynced', 'some of it'] as const) {
            const cut = crashed(disk.state, how, randomFrom(number), 2)
            left.set(imageOf(cut.state), cut.fs)
          }
        })
        await finish(disk.fs)
        cuts += left.size
        for (const fs of left.values()) expect(new Set(await readMains(fs)).size).to.equal(1)
      }
      expect(cuts).to.be.greaterThan(50)
    })
  }
})

/** Whether each repository has the commit; throws where its branch leads nowhere. */
async function readMains(fs: Fs): Promise<boolean[]> {
  const project = await (await Store.open(fs, STORE)).project('default')
  return Promise.all(
    SLUGS.map(async (slug) => {
      const repository = project.repository('workflows', slug)
      const oid = repository.refs.shared().refs.get(MAIN)
      if (oid !== undefined) expect(await repository.objects.has(oid), `${slug} ${oid}`).to.equal(true)
      return oid !== undefined
    }),
  )
}
