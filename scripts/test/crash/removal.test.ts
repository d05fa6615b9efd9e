import { expect } from 'chai'
import type { Repository } from '../../../src/git/store/repository.ts'
import { Store } from '../../../src/git/store/store.ts'
import { commitOn } from '../../../test/support/git/commit-on.ts'
import { crashed, POWER_CUTS } from '../../proofs/crash/crash.ts'
import { randomFrom } from '../../../test/support/values/random.ts'
import { SimulatedDisk } from '../../../test/support/disk/simulated-disk.ts'

const STORE = '/srv/data/store'
const LIVE = `${STORE}/default/workflows/bot.git`
const TRASHED = `${STORE}/default/.trash/workflows/bot.git`

// What the simulation found, each fault by itself.
describe('crash: a power cut', () => {
  it('after a repository was removed, or came back, leaves it where it was said to be, with all that was written to it', async () => {
    const disk = new SimulatedDisk(randomFrom(1))
    const { project, bot } = await withBot(disk)
    await write(bot, 'one')
    await project.claimingSlugs(() =>
      project.trash.put('workflows', 'bot', 'stamp', { others: [], check: async () => undefined }),
    )
    await eachCut(disk, async (fs) => {
      expect([fs.stat(`${LIVE}/HEAD`), fs.stat(`${TRASHED}/HEAD`)?.kind]).to.deep.equal([undefined, 'file'])
    })
    disk.flush()
    await project.claimingSlugs(() => project.trash.takeBack('workflows', 'bot'))
    const back = project.repository('workflows', 'bot')
    await write(back, 'two')
    await eachCut(disk, async (fs, opened) => {
      expect([fs.stat(`${LIVE}/HEAD`)?.kind, fs.stat(`${TRASHED}/HEAD`)]).to.deep.equal(['file', undefined])
      const { history } = opened
      expect((await history.node(opened.refs.shared().refs.get('refs/heads/main') ?? '')).depth).to.equal(2)
      expect(fs.stat(`${LIVE}/trashed.json`)).to.equal(undefined)
    })
  })

  it('after HEAD was pointed at a branch leaves it there', async () => {
    const disk = new SimulatedDisk(randomFrom(1))
    const { bot } = await withBot(disk)
    disk.flush()
    await bot.transact(async (transaction) => {
      commitOn(transaction, 'refs/heads/other', 'one')
      transaction.setDerivedRef('HEAD', 'ref: refs/heads/other')
    })
    await eachCut(disk, async (_, opened) => {
      expect(opened.refs.shared().head).to.equal('refs/heads/other')
    })
  })
})

async function withBot({ fs }: SimulatedDisk) {
  const project = await (await Store.open(fs, STORE)).project('default')
  await project.create('workflows', 'bot', { objects: [], refs: new Map(), head: 'main' })
  return { project, bot: project.repository('workflows', 'bot') }
}

async function write(bot: Repository, message: string): Promise<void> {
  await bot.transact(async (transaction) => commitOn(transaction, 'refs/heads/main', message))
}

/** Looks at what a start finds after each kind of power cut. */
async function eachCut(
  disk: SimulatedDisk,
  look: (fs: SimulatedDisk['fs'], bot: Repository) => Promise<void>,
): Promise<void> {
  for (const how of POWER_CUTS) {
    for (let seed = 1; seed <= 5; seed++) {
      const { fs } = crashed(disk.state, how, randomFrom(seed))
      const store = await Store.open(fs, STORE)
      await look(fs, (await store.project('default')).repository('workflows', 'bot'))
    }
  }
}
