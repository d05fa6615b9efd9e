import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { cpSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { git } from '../../support/git/git-program.ts'
import { decodeJournal } from '../../../src/git/journal/journal-record.ts'
import { recoverForDeadServers, Store } from '../../../src/git/store/store.ts'
import { hashObject, encodeTree } from '../../../src/git/objects/object.ts'
import { encodePack, stageSynced } from '../../../src/git/packs/pack-writer.ts'
import type { Repository } from '../../../src/git/store/repository.ts'
import { transactAcross } from '../../../src/git/store/repository.ts'
import type { Transaction } from '../../../src/git/transactions/transaction.ts'
import type { Fs } from '../../../src/storage/files/fs.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { thisProcess } from '../../../src/storage/files/process-identity.ts'
import { commitOn } from '../../support/git/commit-on.ts'
import {
  type Deployed,
  FOLDERS,
  LIVE,
  MAIN,
  deploy,
  isDeployed,
  openDeployed,
  storeToDeploy,
} from '../deployment.ts'
import { expectSound, leftovers } from '../../support/git/expect-sound.ts'
import { failingFs } from '../../support/disk/failing-fs.ts'
import { ageJournals, journals, powerCut, snapshot } from '../power-cut.ts'

/** So many stores one process is interrupted in, at another step in each: to start one costs more than to deploy. */
const A_PROCESS = 12

/** At every so many of these steps \`git fsck\` looks at all objects, which are the same at each. */
const A_LOOK = 4

describe('git: a write to several repositories', () => {
  it('moves all of their refs, answers once they are moved, and costs one sync', async () => {
    let syncs = 0
    const { folder, deployed, store } = await fresh({
      ...nodeFs,
      createLog: (path) => {
        const log = nodeFs.createLog(path)
        return { ...log, sync: () => (syncs++, log.sync()) }
      },
    })
    const before = packsIn(folder)
    const commit = await deploy(deployed)
    expect(syncs).to.equal(1)
    expect(isDeployed(folder)).to.equal(true)
    expect(git(`${folder}/${FOLDERS.next}`, ['rev-parse', 'main'])).to.equal(commit)
    expect(packsIn(folder).map((count, index) => count - (before[index] ?? 0))).to.deep.equal([1, 1, 0])
    for (const repository of all(deployed)) {
      const seen = Object.fromEntries(repository.refs.snapshot().refs)
      expect(Object.fromEntries(repository.refs.latest.refs)).to.deep.equal(seen)
    }
    expectAllSound(folder)
    await store.close()
    expect(journals(folder)).to.deep.equal([])
    expectAllSound(folder)
  })

  it('gives the transactions in the order of the repositories, whatever that is', async () => {
    const { folder, deployed } = await fresh()
    const { environment, next, previous } = deployed
    for (const order of [
      [environment, next, previous],
      [previous, next, environment],
      [next, previous, environment],
    ]) {
      await transactAcross(order, async (transactions) => {
        expect(transactions.map((transaction) => transaction.ref(MAIN))).to.deep.equal(
          order.map((repository) => git(repository.path, ['rev-parse', 'main'])),
        )
        for (const [index, transaction] of transactions.entries())
          commitOn(transaction, MAIN, order[index]?.path ?? '')
      })
      for (const { path } of order) expect(git(path, ['log', '-1', '--format=%s'])).to.equal(path)
    }
    expectAllSound(folder)
  })

  it('moves what is pointed at before what points there, what follows after both, and deletes last', async () => {
    const order: string[] = []
    const note = (path: string): void => {
      const ref = /([^/]+)\.git\/(refs\/.*[^k]$)/.exec(path)
      if (ref) order.push(`${ref[1]} ${ref[2]}`)
    }
    const { deployed } = await fresh({
      ...nodeFs,
      rename: (from, to) => (note(to), nodeFs.rename(from, to)),
      remove: (path) => (note(path), nodeFs.remove(path)),
    })
    await deploy(deployed)
    expect(order).to.deep.equal([`a ${MAIN}`, `live ${MAIN}`, `a ${LIVE}`, `b ${LIVE}`])
  })

  it('stores nothing anywhere when the job throws, and leaves every turn free', async () => {
    const { folder, deployed } = await fresh()
    const before = packsIn(folder)
    const broken = new Error('broken')
    const failed = await transactAcross(all(deployed), async (transactions) => {
      for (const transaction of transactions) commitOn(transaction, MAIN, 'lost')
      throw broken
    }).catch(itself)
    expect(failed).to.equal(broken)
    expect(isDeployed(folder)).to.equal(false)
    expect(packsIn(folder)).to.deep.equal(before)
    expectAllSound(folder)
    for (const repository of all(deployed))
      await repository.transact(async (one) => commitOn(one, MAIN, 'one'))
    await deploy(deployed)
    expect(isDeployed(folder)).to.equal(true)
  })

  it('stores nothing anywhere when one of them wants a ref that cannot be', async () => {
    const { folder, deployed } = await fresh()
    const head = git(`${folder}/${FOLDERS.previous}`, ['rev-parse', 'main'])
    git(`${folder}/${FOLDERS.previous}`, ['update-ref', 'refs/heads/topic/a', head])
    const refusal = await transactAcross(all(deployed), async (transactions) => {
      for (const transaction of transactions) commitOn(transaction, 'refs/heads/topic', 'lost')
    }).catch(itself)
    expect(refusal).to.have.property('code', 'slug_taken')
    for (const path of Object.values(FOLDERS)) {
      expect(git(`${folder}/${path}`, ['for-each-ref', 'refs/heads/topic'])).not.to.contain('topic\n')
      expectSound(`${folder}/${path}`)
    }
  })

  it('is worked out anew in all when git was faster in one, and loses nothing of either', async () => {
    for (const name of ['environment', 'next', 'previous'] as const) {
      let meanwhile: (() => void) | undefined
      const { folder, deployed } = await fresh({
        ...nodeFs,
        link: (from, to) => {
          const act = meanwhile
          meanwhile = undefined
          act?.()
          nodeFs.link(from, to)
        },
      })
      const path = `${folder}/${FOLDERS[name]}`
      const heads: (string | undefined)[][] = []
      let byHand = ''
      meanwhile = () => {
        byHand = git(path, ['commit-tree', 'main^{tree}', '-p', 'main', '-m', 'by hand'])
        git(path, ['update-ref', MAIN, byHand])
      }
      await transactAcross(all(deployed), async (transactions) => {
        heads.push(transactions.map((transaction) => transaction.ref(MAIN)))
        for (const transaction of transactions) commitOn(transaction, MAIN, 'ours')
      })
      expect(heads).to.have.length(2)
      expect(heads[1]).to.include(byHand)
      for (const repository of all(deployed)) {
        const subjects = git(repository.path, ['log', '--format=%s', 'main']).split('\n')
        expect(subjects.slice(0, 2)).to.deep.equal([
          'ours',
          repository.path === path ? 'by hand' : subjects[1],
        ])
        expect(subjects.filter((subject) => subject === 'ours')).to.have.length(1)
      }
      expectAllSound(folder)
    }
  })

  it('may turn out to need one of them only, or none', async () => {
    const { folder, deployed } = await fresh()
    const before = packsIn(folder)
    expect(await transactAcross(all(deployed), async () => 'nothing')).to.equal('nothing')
    expect(packsIn(folder)).to.deep.equal(before)
    await transactAcross(all(deployed), async ([, second]) => second && commitOn(second, MAIN, 'alone'))
    expect(git(`${folder}/${FOLDERS.next}`, ['log', '-1', '--format=%s'])).to.equal('alone')
    expect(await transactAcross([], async (transactions) => transactions.length)).to.equal(0)
    expectAllSound(folder)
  })

  it('is not begun if it names a repository twice, or one of another store', async () => {
    const { deployed } = await fresh()
    const { deployed: others } = await fresh()
    const { environment, next } = deployed
    const job = () => Promise.reject(new Error('begun'))
    expect((await transactAcross([environment, next, environment], job).catch(itself)).message).to.contain(
      'twice',
    )
    expect((await transactAcross([environment, others.next], job).catch(itself)).message).to.contain(
      'two stores',
    )
    await deploy(deployed)
  })

  it('can adopt packs, small objects or none beside them', async () => {
    const { folder, deployed } = await fresh()
    const bytes = Buffer.from('adopted\n')
    const blob = hashObject('blob', bytes)
    const tree = encodeTree([{ mode: '100644', name: 'row', oid: blob }])
    const encoded = encodePack([
      { kind: 'blob', bytes, oid: blob },
      { kind: 'tree', bytes: tree, oid: hashObject('tree', tree) },
    ])
    const { environment, next } = deployed
    const packs = await Promise.all([environment, next].map(({ path }) => stageSynced(nodeFs, path, encoded)))
    await transactAcross([environment, next], async (transactions) => {
      for (const [index, transaction] of transactions.entries()) {
        const pack = packs[index]
        if (pack) transaction.adopt(pack)
        commitOn(transaction, MAIN, 'rows', hashObject('tree', tree))
      }
    })
    for (const { path } of [environment, next]) expect(git(path, ['show', 'main:row'])).to.equal('adopted')
    expectAllSound(folder)
  })

  describe('among many others', () => {
    it('of one server: nothing waits for ever, nothing is lost', async () => {
      const { folder, deployed } = await fresh()
      await crowd(folder, [all(deployed)], 200)
    })

    it('of two servers, which cross each other’s ways', async () => {
      const { folder, deployed } = await fresh()
      const other = await openDeployed(nodeFs, folder)
      await crowd(folder, [all(deployed), all(other.deployed)], 60)
    })

    /** So many joint and so many single writes at once, by turns through each server, in every order of repositories. */
    async function crowd(folder: string, servers: readonly Repository[][], count: number): Promise<void> {
      const expected = all(await openDeployed(nodeFs, folder).then(({ deployed }) => deployed)).map(
        ({ path }): [string, string[]] => [path, git(path, ['log', '--format=%s', 'main']).split('\n')],
      )
      const subjects = new Map(expected)
      const writes: Promise<unknown>[] = []
      for (let number = 0; number < count; number++) {
        const server = servers[number % servers.length] ?? []
        const turned = [...server.slice(number % 3), ...server.slice(0, number % 3)]
        if (number % 2 === 0) turned.reverse()
        const chosen = turned.slice(0, 2 + (Math.floor(number / 6) % 2))
        const single = server[Math.floor(number / 2) % 3]
        for (const { path } of chosen) subjects.get(path)?.push(`joint ${number}`)
        writes.push(
          transactAcross(chosen, async (transactions) => {
            for (const transaction of transactions) await commitLater(transaction, `joint ${number}`)
          }),
        )
        if (!single) continue
        subjects.get(single.path)?.push(`single ${number}`)
        writes.push(single.transact((transaction) => commitLater(transaction, `single ${number}`)))
      }
      await Promise.all(writes)
      for (const [path, messages] of subjects) {
        expect(git(path, ['log', '--format=%s', 'main']).split('\n')).to.have.members(messages)
        expectSound(path)
      }
    }

    async function commitLater(transaction: Transaction, message: string): Promise<void> {
      await transaction.read(transaction.ref(MAIN) ?? '')
      commitOn(transaction, MAIN, message)
    }
  })

  describe('on a disk that fails at any one step', () => {
    it('is done or not done at all, at once or after a power cut', async () => {
      const outcomes = new Set<string>()
      for (let step = 1, isFailing = true; isFailing; step++) {
        const disk = failingFs(nodeFs)
        const { folder, deployed, store } = await fresh(disk.fs)
        const before = snapshot(folder)
        let calls = 0
        let failed = ''
        disk.failIf((call, path) => {
          if (call === 'remove' && !path.endsWith(LIVE)) return false
          const at = `${call} ${path.slice(folder.length)}`
          if (++calls === step) failed = at
          // A ref is tried again, and cannot be moved then either.
          return at === failed
        })
        const error = await deploy(deployed).then(
          () => undefined,
          (thrown: NodeJS.ErrnoException) => thrown,
        )
        disk.failIf(() => false)
        isFailing = failed !== ''
        const at = `step ${step}: ${failed}`
        const state = isDeployed(folder)
        if (error) expect(error.code, at).to.equal('ENOSPC')
        else expect(state, at).to.equal(true)
        const isHalf = typeof state === 'string'
        outcomes.add(error ? (isHalf ? 'half' : 'refused') : 'done')
        if (isHalf) {
          // What has not moved cannot be moved elsewhere now, and the journal keeps the write as long as it takes.
          const path = `${folder}/${FOLDERS.previous}`
          const args = ['-c', 'core.filesRefLockTimeout=0', 'update-ref', LIVE, 'main']
          expect(() => git(path, args), at).to.throw('cannot lock ref')
        } else if (error)
          for (const path of Object.values(FOLDERS))
            expect(leftovers(`${folder}/${path}`), at).to.deep.equal([])
        await store.close()
        expect(journals(folder), at).to.have.length(isHalf ? 1 : 0)
        if (isHalf) {
          powerCut(folder, before)
          const again = await openDeployed(nodeFs, folder)
          expect(isDeployed(folder), at).to.equal(true)
          for (const repository of all(again.deployed)) await repository.sweepLeftovers()
          expectAllSound(folder)
        }
      }
      expect([...outcomes]).to.have.members(['refused', 'half', 'done'])
    })

    it('is not half done for longer than until the next start of a server', () => {
      return everyStep('fail', async (folder) => {
        const { deployed } = await openDeployed(nodeFs, folder)
        expect(isDeployed(folder)).to.be.a('boolean')
        return deployed
      })
    })
  })

  describe('in a process that is killed at any step from the decision on', () => {
    it('is done or not done at all after the next start of a server', () => {
      return everyStep('kill', async (folder) => {
        const { deployed } = await openDeployed(nodeFs, folder)
        expect(isDeployed(folder)).to.be.a('boolean')
        return deployed
      })
    })

    it('is finished by another server that wants one of its refs', () => {
      return everyStep('kill', async (folder, deployed) => {
        const head = deployed.previous.refs.shared().refs.get(MAIN) ?? ''
        const seen = await deployed.previous.transact(async (transaction) => {
          const before = transaction.ref(LIVE)
          transaction.setDerivedRef(LIVE, head)
          return before
        })
        const path = `${folder}/${FOLDERS.previous}`
        expect(git(path, ['rev-parse', LIVE])).to.equal(head)
        if (seen === undefined)
          await deployed.previous.transact(async (again) => again.removeDerivedRef(LIVE))
        expect(isDeployed(folder)).to.equal(seen === undefined)
        return deployed
      })
    })

    it('is finished by another server that sweeps up', () => {
      return everyStep('kill', async (folder, deployed) => {
        await deployed.environment.sweepLeftovers()
        await deployed.previous.sweepLeftovers()
        expect(isDeployed(folder)).to.be.a('boolean')
        return deployed
      })
    })
  })

  describe('in a process that is killed once nothing is left but to put it in place', () => {
    it('is finished by two servers that look at the same time', () => {
      return everyStep('kill', async (folder, deployed) => {
        await Promise.all([recoverForDeadServers(nodeFs, folder), recoverForDeadServers(nodeFs, folder)])
        expect(journals(folder)).to.deep.equal([])
        expect(isDeployed(folder)).to.be.a('boolean')
        return deployed
      })
    })

    it('is finished by the second server when the first is killed at any step of finishing it', async () => {
      const decided = await firstDecidedStep()
      await atEveryStep(async (steps) => {
        const stores = await Promise.all(steps.map(() => fresh()))
        const died = stores.map(({ folder }) => [folder, `${decided}`])
        expect(new Set(await outcomesOf('deploying', ['kill', ...died.flat()]))).to.have.keys('killed')
        const outcomes = await outcomesOf(
          'finishing',
          stores.flatMap(({ folder }, index) => [folder, `${steps[index]}`]),
        )
        for (const [index, { folder, deployed }] of stores.entries()) {
          const at = `step ${steps[index]}`
          await recoverForDeadServers(nodeFs, folder)
          expect(isDeployed(folder), at).to.equal(true)
          expect(journals(folder), at).to.deep.equal([])
          for (const repository of all(deployed)) await repository.sweepLeftovers()
          for (const path of Object.values(FOLDERS)) expect(leftovers(`${folder}/${path}`)).to.deep.equal([])
          if (index % A_LOOK === 0) expectAllSound(folder)
        }
        return outcomes.includes('survived')
      })
    })

    it('is left alone where the process may live: on another host, or under its own number', async () => {
      const { folder, deployed, store } = await fresh()
      await deploy(deployed)
      const [own = ''] = journals(folder)
      const { host, boot, pid, start } = thisProcess()
      const elsewhere = `${folder}/.journal/${host}-2.${boot}.999999999.1.1`
      cpSync(own, elsewhere)
      expect(await recoverForDeadServers(nodeFs, folder)).to.equal(false)
      expect(journals(folder)).to.have.members([own, elsewhere])
      // Another process that had our number before us is dead.
      cpSync(own, `${folder}/.journal/${host}.${boot}.${pid}.${Number(start) - 1}.1`)
      expect(await recoverForDeadServers(nodeFs, folder)).to.equal(true)
      expect(journals(folder)).to.have.members([own, elsewhere])
      await store.close()
    })
  })

  /** The first step at which a killed process has decided its write: nothing of it is in place. */
  async function firstDecidedStep(): Promise<number> {
    let decided = 0
    await atEveryStep(async (steps) => {
      const folders = await Promise.all(steps.map(async () => (await fresh()).folder))
      await outcomesOf('deploying', [
        'kill',
        ...folders.flatMap((folder, index) => [folder, `${steps[index]}`]),
      ])
      for (const [index, folder] of folders.entries()) {
        await recoverForDeadServers(nodeFs, folder)
        if (decided === 0 && isDeployed(folder) === true) decided = steps[index] ?? 0
      }
      return decided > 0
    })
    return decided
  }

  /**
   * Lets a process deploy that is interrupted at every step in turn, has `recover` look to it and answer the
   * repositories as a server has them then, and sees that nothing is left over and the next deployment works.
   */
  async function everyStep(
    mode: 'kill' | 'fail',
    recover: (folder: string, running: Deployed) => Promise<Deployed>,
  ): Promise<void> {
    const states = new Set<boolean | string>()
    await atEveryStep(async (steps) => {
      const stores = await Promise.all(steps.map(() => fresh()))
      const jobs = stores.flatMap(({ folder }, index) => [folder, `${steps[index]}`])
      const outcomes = await outcomesOf('deploying', [mode, ...jobs])
      expect(outcomes).to.have.length(stores.length)
      for (const [index, { folder, deployed: running }] of stores.entries()) {
        const outcome = outcomes[index] ?? ''
        if (outcome === 'done survived') continue
        const at = `step ${steps[index]}`
        expect(outcome, at).to.match(mode === 'kill' ? /^killed$/ : /^(ENOSPC|done)$/)
        const deployed = await recover(folder, running)
        const state = isDeployed(folder)
        if (outcome === 'done') expect(state, at).to.equal(true)
        states.add(state)
        for (const repository of all(deployed)) await repository.sweepLeftovers()
        for (const path of Object.values(FOLDERS))
          expect(leftovers(`${folder}/${path}`), at).to.deep.equal([])
        await deploy(deployed)
        expect(isDeployed(folder), at).to.equal(true)
        if (index % A_LOOK === 0) expectAllSound(folder)
      }
      return outcomes.includes('done survived')
    })
    expect([...states]).to.have.members([true, false])
  }

  describe('survives a power cut', () => {
    it('that lost everything not synced', async () => {
      const { folder, deployed } = await fresh()
      const before = snapshot(folder)
      await deploy(deployed)
      powerCut(folder, before)
      expect(isDeployed(folder)).to.equal(false)
      await Store.open(nodeFs, folder)
      expect(isDeployed(folder)).to.equal(true)
      expectAllSound(folder)
    })

    it('that cut the journal at any byte: all of it is there or nothing', async () => {
      const { folder, deployed } = await fresh()
      const before = snapshot(folder)
      const refs = refFilesOf(folder)
      await deploy(deployed)
      const [journal = ''] = journals(folder)
      const bytes = readFileSync(journal)
      expect(decodeJournal(bytes).map(({ writes }) => writes.length)).to.deep.equal([3])
      powerCut(folder, before)
      for (let length = 0; length < bytes.length; length++) {
        expect(decodeJournal(bytes.subarray(0, length)), `${length} bytes`).to.deep.equal([])
        // What is read as no record is all alike to a start, but for its ends.
        if (length > 20 && length < bytes.length - 20 && length % 50 !== 0) continue
        writeFileSync(journal, bytes.subarray(0, length))
        ageJournals(folder)
        await Store.open(nodeFs, folder)
        expect(refFilesOf(folder), `${length} bytes`).to.deep.equal(refs)
      }
      writeFileSync(journal, bytes)
      ageJournals(folder)
      await Store.open(nodeFs, folder)
      expect(isDeployed(folder)).to.equal(true)
      expectAllSound(folder)
    })

    it('as the last of several writes, and before others', async () => {
      const { folder, deployed } = await fresh()
      const before = snapshot(folder)
      await deployed.next.transact(async (transaction) => commitOn(transaction, MAIN, 'before'))
      await deploy(deployed)
      await deployed.previous.transact(async (transaction) => {
        transaction.setDerivedRef(LIVE, commitOn(transaction, MAIN, 'after'))
      })
      powerCut(folder, before)
      await Store.open(nodeFs, folder)
      expect(git(`${folder}/${FOLDERS.next}`, ['log', '-2', '--format=%s'])).to.equal('deployed\nbefore')
      expect(git(`${folder}/${FOLDERS.previous}`, ['log', '-1', '--format=%s', LIVE])).to.equal('after')
      expectAllSound(folder)
    })
  })
})

/** Has `run` take the steps from 1 on, some at a time, until it says that there are no more. */
async function atEveryStep(run: (steps: readonly number[]) => Promise<boolean>): Promise<void> {
  for (let step = 1, isOver = false; !isOver; step += A_PROCESS) {
    isOver = await run(Array.from({ length: A_PROCESS }, (_, index) => step + index))
  }
}

/** What became of each store that the program was given: the lines it prints. It is over when this resolves. */
function outcomesOf(program: 'deploying' | 'finishing', args: readonly string[]): Promise<string[]> {
  const path = fileURLToPath(new URL(`../${program}-process.js`, import.meta.url))
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [path, ...args], (_error, stdout, stderr) =>
      stderr === '' ? resolve(stdout.split('\n')) : reject(new Error(stderr)),
    )
  })
}

async function fresh(fs: Fs = nodeFs): Promise<{ folder: string; store: Store; deployed: Deployed }> {
  const folder = await storeToDeploy()
  return { folder, ...(await openDeployed(fs, folder)) }
}

function all({ environment, next, previous }: Deployed): Repository[] {
  return [environment, next, previous]
}

/** How many packs each repository has. */
function packsIn(folder: string): number[] {
  return Object.values(FOLDERS).map(
    (path) => readdirSync(`${folder}/${path}/objects/pack`).filter((name) => name.endsWith('.pack')).length,
  )
}

/** What the files say that git reads refs from. */
function refFilesOf(folder: string): Record<string, string> {
  const files: Record<string, string> = {}
  for (const path of Object.values(FOLDERS)) {
    for (const name of readdirSync(`${folder}/${path}`, { recursive: true }).map(String)) {
      if (!/^refs\/\w+\/|^packed-refs$/.test(name)) continue
      files[`${path}/${name}`] = readFileSync(`${folder}/${path}/${name}`, 'utf8')
    }
  }
  return files
}

function expectAllSound(folder: string): void {
  for (const path of Object.values(FOLDERS)) expectSound(`${folder}/${path}`)
}

function itself<T>(error: T): T {
  return error
}
