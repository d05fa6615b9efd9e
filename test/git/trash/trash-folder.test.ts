import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { git, temporaryFolder } from '../../support/git/git-program.ts'
import { Refusal } from '../../../src/errors.ts'
import { decodeJournal, encodeRecord } from '../../../src/git/journal/journal-record.ts'
import { recoverForDeadServers, Store } from '../../../src/git/store/store.ts'
import type { Repository } from '../../../src/git/store/repository.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { commitOn } from '../../support/git/commit-on.ts'
import { leftovers } from '../../support/git/expect-sound.ts'

const MAIN = 'refs/heads/main'
const PROCESS = fileURLToPath(new URL('../removing-process.js', import.meta.url))
/** So many stores one process is interrupted in. */
const A_PROCESS = 12

describe('git: a repository that goes to the trash', () => {
  for (const way of ['put', 'back'] as const) {
    it(`is in one place, and free to be written to or gone, at whatever step of the way ${way} its server is killed`, async () => {
      const outcomes = new Set<string>()
      for (let first = 1, isOver = false; !isOver; first += A_PROCESS) {
        const steps = Array.from({ length: A_PROCESS }, (_, index) => first + index)
        const stores = await Promise.all(steps.map(() => storeOf(way)))
        const jobs = steps.flatMap((step, index) => [stores[index] ?? '', String(step)])
        const lines = (await runToDeath([way, ...jobs])).split('\n')
        expect(lines).to.have.length(steps.length)
        for (const [index, folder] of stores.entries()) outcomes.add(await afterDeath(folder, index))
        isOver = lines.includes('done')
      }
      // Before it was decided, and after.
      expect([...outcomes].sort()).to.deep.equal(['live', 'trashed'])
    }).timeout(300_000)
  }

  it('takes along what was answered before, and refuses what comes later, of one server and of two', async () => {
    const folder = await storeOf('put')
    const [one, two] = [await open(folder), await open(folder)]
    const answered: string[] = []
    let refused = 0
    const write = async ({ bot }: Opened, name: string): Promise<void> => {
      try {
        await bot.transact(async (transaction) => {
          if (transaction.ref(MAIN) === undefined) throw new Refusal('artifact_not_found', 'gone')
          commitOn(transaction, MAIN, name)
          if (name.endsWith('0')) transaction.move(`refs/tags/${name}`, transaction.ref(MAIN) ?? '')
        })
        answered.push(name)
      } catch (error) {
        expect(error).to.be.instanceOf(Refusal)
        expect((error as Refusal).code).to.equal('artifact_not_found')
        refused++
      }
    }
    const writers = [one, two].map(async (server, index) => {
      for (let n = 1; refused < 20; n++)
        await Promise.all([write(server, `${index}-${n}a`), write(server, `${index}-${n}0`)])
    })
    while (answered.length < 10) await new Promise((resolve) => setImmediate(resolve))
    await one.store
      .project('default')
      .then((project) =>
        project.claimingSlugs(() =>
          project.trash.put('workflows', 'bot', 'stamp', { others: [], check: async () => undefined }),
        ),
      )
    await Promise.all(writers)
    const trashed = `${folder}/default/.trash/workflows/bot.git`
    expect(git(trashed, ['log', '--format=%s', 'main']).split('\n')).to.have.members(['first', ...answered])
    expect(git(trashed, ['fsck', '--strict', '--no-dangling'])).to.equal('')
    expect(existsSync(`${folder}/default/workflows/bot.git`), 'a shell of it').to.equal(false)
    await Promise.all([one, two].map(({ store }) => store.close()))
  })

  it('waits for whoever writes to it, and has writers wait until it is decided', async () => {
    const folder = await storeOf('put')
    const { store, bot } = await open(folder)
    const project = await store.project('default')
    writeFileSync(`${bot.path}/refs/heads/other.lock`, '')
    const order: string[] = []
    const put = project.claimingSlugs(() =>
      project.trash.put('workflows', 'bot', 'stamp', {
        others: [],
        check: async () => {
          order.push('fenced')
          void bot
            .transact(async (transaction) => commitOn(transaction, MAIN, 'late'))
            .then(() => order.push('written'))
          await new Promise((resolve) => setTimeout(resolve, 50))
          order.push('refused')
          throw new Refusal('in_use', 'it is in use')
        },
      }),
    )
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(order).to.deep.equal([])
    nodeFs.remove(`${bot.path}/refs/heads/other.lock`)
    expect(await put.catch((error: Refusal) => error.code)).to.equal('in_use')
    while (order.length < 3) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(order).to.deep.equal(['fenced', 'refused', 'written'])
    expect(readdirSync(bot.path)).to.not.include('trashed.json')
    await store.close()
    expect(leftovers(bot.path)).to.deep.equal([])
  })

  it('is moved by no record that leads elsewhere', () => {
    const record = { id: 1, round: 1, at: 1, writes: [] }
    const good = { from: 'default/workflows/bot.git', to: 'default/.trash/workflows/bot.git', stamp: 'x' }
    for (const moved of [good, { ...good, from: good.to, to: good.from }])
      expect(decodeJournal(encodeRecord({ ...record, moved }))[0]?.moved).to.deep.equal(moved)
    for (const wrong of [
      { to: 'default/.trash/testsets/bot.git' },
      { to: 'other/.trash/workflows/bot.git' },
      { to: 'default/.trash/workflows/../bot.git' },
      { from: 'default/../bot.git', to: 'default/.trash/../bot.git' },
      { from: 'default/workflows/bot.git', to: 'default/workflows/else.git' },
      { from: '/etc', to: '/.trash/etc' },
    ])
      expect(
        decodeJournal(encodeRecord({ ...record, moved: { ...good, ...wrong } }))[0],
      ).to.not.have.property('moved')
  })
})

interface Opened {
  readonly store: Store
  readonly bot: Repository
}

async function open(folder: string): Promise<Opened> {
  const store = await Store.open(nodeFs, folder)
  return { store, bot: (await store.project('default')).repository('workflows', 'bot') }
}

const prepared = new Map<string, string>()

/** A store with the workflow `bot`, live or in the trash. */
async function storeOf(way: 'put' | 'back'): Promise<string> {
  let from = prepared.get(way)
  if (from === undefined) {
    from = temporaryFolder()
    for (const name of ['workflows/bot', 'environments/live']) {
      mkdirSync(`${from}/default/${name}.git`, { recursive: true })
      git(`${from}/default/${name}.git`, ['init', '-q', '--bare', '-b', 'main'])
    }
    const { store, bot } = await open(from)
    await bot.transact(async (transaction) => commitOn(transaction, MAIN, 'first'))
    const project = await store.project('default')
    if (way === 'back')
      await project.trash.put('workflows', 'bot', 'stamp', { others: [], check: async () => undefined })
    await store.close()
    prepared.set(way, from)
  }
  const folder = temporaryFolder()
  cpSync(from, folder, { recursive: true })
  return folder
}

/** What the next who comes finds: by turns a living server that looks after the dead, a writer, and a start. */
async function afterDeath(folder: string, turn: number): Promise<'live' | 'trashed'> {
  const live = `${folder}/default/workflows/bot.git`
  const trashed = `${folder}/default/.trash/workflows/bot.git`
  const moves = journals(folder).flatMap((bytes) => decodeJournal(bytes).flatMap(({ moved }) => moved ?? []))
  if (turn % 3 === 0) await recoverForDeadServers(nodeFs, folder)
  if (turn % 3 === 1) await Store.open(nodeFs, folder).then((store) => store.close())
  const { store, bot } = await open(folder)
  const written = await bot
    .transact(async (transaction) => {
      if (transaction.ref(MAIN) === undefined) throw new Refusal('artifact_not_found', 'gone')
      commitOn(transaction, MAIN, 'after')
    })
    .then(
      () => true,
      (error: Refusal) => {
        expect(error.code, error.message).to.equal('artifact_not_found')
        return false
      },
    )
  expect([existsSync(live), existsSync(trashed)]).to.deep.equal([written, !written])
  // What the journal says was decided is done, whoever came first.
  for (const { to } of moves) expect(existsSync(`${folder}/${to}`), to).to.equal(true)
  const path = written ? live : trashed
  expect(git(path, ['log', '--format=%s', 'main'])).to.equal(written ? 'after\nfirst' : 'first')
  const project = await store.project('default')
  // What comes next is done from wherever it was left.
  await project.claimingSlugs(() =>
    written
      ? project.trash.put('workflows', 'bot', 'next', { others: [], check: async () => undefined })
      : project.trash.takeBack('workflows', 'bot'),
  )
  await store.close()
  const [now, before] = written ? [trashed, live] : [live, trashed]
  expect([existsSync(now), existsSync(before)]).to.deep.equal([true, false])
  expect(git(now, ['fsck', '--strict', '--no-dangling'])).to.equal('')
  expect(existsSync(`${now}/fence.lock`)).to.equal(false)
  return written ? 'live' : 'trashed'
}

/** What journals hold. */
function journals(folder: string): Buffer[] {
  const names = nodeFs.readDir(`${folder}/.journal`) ?? []
  return names.map((name) => nodeFs.readFile(`${folder}/.journal/${name}`) ?? Buffer.alloc(0))
}

function runToDeath(args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--enable-source-maps', PROCESS, ...args], (_, stdout, stderr) => {
      if (stderr) process.stderr.write(stderr)
      resolve(stdout)
    })
  })
}
