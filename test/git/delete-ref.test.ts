import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { git, repositoryWithHistory, temporaryFolder } from '../support/git/git-program.ts'
import { Journal } from '../../src/git/journal/journal.ts'
import { Store } from '../../src/git/store/store.ts'
import { PackCache } from '../../src/git/packs/pack-cache.ts'
import { RefReader } from '../../src/git/refs/ref-store.ts'
import { RefMoved } from '../../src/git/refs/ref-move.ts'
import { moveRefs } from './refs/move-refs.ts'
import { Repository } from '../../src/git/store/repository.ts'
import type { Transaction, TransactionJob } from '../../src/git/transactions/transaction.ts'
import type { Fs } from '../../src/storage/files/fs.ts'
import { memoryFs } from '../../src/storage/memory-fs.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { identityName, thisProcess } from '../../src/storage/files/process-identity.ts'
import { commitOn } from '../support/git/commit-on.ts'
import { expectSound, leftovers } from '../support/git/expect-sound.ts'
import { failingFs } from '../support/disk/failing-fs.ts'
import { ageJournals, journals, powerCut, snapshot } from './power-cut.ts'

const LIVE = 'refs/environments/live'
const MAIN = 'refs/heads/main'

describe('git: deleting a ref', () => {
  const source = repositoryWithHistory(3)
  const [third = '', second = '', first = ''] = git(source, ['rev-list', 'main']).split('\n')

  /** Where git can keep it: each makes LIVE in a repository that has other refs, packed ones among them. */
  const places: Record<string, (folder: string) => void> = {
    loose: (folder) => git(folder, ['update-ref', LIVE, second]),
    packed: (folder) => {
      git(folder, ['update-ref', LIVE, second])
      git(folder, ['pack-refs', '--all'])
    },
    'loose and packed': (folder) => {
      git(folder, ['update-ref', LIVE, first])
      git(folder, ['pack-refs', '--all'])
      git(folder, ['update-ref', LIVE, second])
    },
    'packed, its empty folder left behind': (folder) => {
      git(folder, ['update-ref', LIVE, second])
      git(folder, ['pack-refs', '--all'])
      mkdirSync(`${folder}/${LIVE}/deeper`, { recursive: true })
    },
  }

  const prepared: Record<string, string> = {}

  function prepare(place: string): string {
    const folder = temporaryFolder()
    cpSync(source, folder, { recursive: true })
    for (const name of ['a', 'z']) git(folder, ['update-ref', `refs/environments/${name}`, third])
    git(folder, ['tag', '-a', '-m', 'One', 'v1', first])
    git(folder, ['pack-refs', '--all'])
    places[place]?.(folder)
    return folder
  }

  /** A repository in a store of its own, with LIVE in that place. */
  function repositoryWith(
    place: string,
    fs: Fs = nodeFs,
  ): { folder: string; repository: Repository; journal: Journal } {
    const store = temporaryFolder()
    const folder = `${store}/bot.git`
    cpSync((prepared[place] ??= prepare(place)), folder, { recursive: true })
    const journal = new Journal(fs, store)
    return {
      folder,
      journal,
      repository: new Repository(fs, folder, new PackCache(), journal),
    }
  }

  for (const place of Object.keys(places)) {
    describe(`that is ${place}`, () => {
      it('leaves what git update-ref -d leaves, and nobody sees it any more', async () => {
        const { folder, repository } = repositoryWith(place)
        const byGit = temporaryFolder()
        cpSync(folder, byGit, { recursive: true })
        const other = new RefReader(nodeFs, folder)
        expect(other.snapshot().refs.get(LIVE)).to.equal(second)
        await repository.transact(remove(LIVE))
        git(byGit, ['update-ref', '-d', LIVE])
        expect(readFileSync(`${folder}/packed-refs`, 'utf8')).to.equal(
          readFileSync(`${byGit}/packed-refs`, 'utf8'),
        )
        expect(refsOf(folder)).to.deep.equal(refsOf(byGit))
        for (const refs of [
          repository.refs.latest,
          repository.refs.shared(),
          repository.refs.snapshot(),
          other.snapshot(),
        ]) {
          expect(Object.fromEntries(refs.refs)).to.deep.equal(refsOf(folder))
        }
        expect(new RefReader(nodeFs, folder).current(LIVE)).to.equal(undefined)
        expectSound(folder)
        await repository.transact(async (transaction) => transaction.setDerivedRef(LIVE, third))
        expect(refsOf(folder)[LIVE]).to.equal(third)
        expectSound(folder)
      })

      it('shows its value until it is gone, and no other in between', async () => {
        const seen: (string | undefined)[] = []
        const look = (): void => {
          if (!isWatching) return
          const byGit = refsOf(folder)[LIVE]
          expect(new RefReader(nodeFs, folder).current(LIVE)).to.equal(byGit)
          if (seen.at(-1) !== byGit || seen.length === 0) seen.push(byGit)
        }
        let isWatching = false
        const { folder, repository } = repositoryWith(place, {
          ...nodeFs,
          rename: (from, to) => (nodeFs.rename(from, to), look()),
          link: (from, to) => (nodeFs.link(from, to), look()),
          remove: (path) => (nodeFs.remove(path), look()),
        })
        isWatching = true
        await repository.transact(remove(LIVE))
        isWatching = false
        expect(seen).to.deep.equal([second, undefined])
      })

      it('comes after every ref that moves with it', async () => {
        const order: string[] = []
        const { folder, repository } = repositoryWith(place, {
          ...nodeFs,
          rename: (from, to) => {
            order.push(`${LIVE in refsOf(folder) ? 'live' : 'gone'} ${to.slice(folder.length + 1)}`)
            nodeFs.rename(from, to)
          },
        })
        await repository.transact(async (transaction) => {
          transaction.removeDerivedRef(LIVE)
          transaction.setDerivedRef('refs/tags/v2', second)
          commitOn(transaction, MAIN, 'four')
        })
        expect(order.filter((move) => move.includes('refs/'))).to.deep.equal([
          `live ${MAIN}`,
          'live refs/tags/v2',
        ])
        expect(refsOf(folder)).not.to.have.property(LIVE)
      })

      it('is refused and changes nothing, or is done, on a disk that fails at any one step', async () => {
        const disk = failingFs(nodeFs)
        for (let step = 1, isFailing = true; isFailing; step++) {
          const { folder, repository, journal } = repositoryWith(place, disk.fs)
          const before = refsOf(folder)
          let calls = 0
          let failed = ''
          // A lock that cannot be removed stays for the sweep of the next start; the ref itself is removed like a file, too.
          disk.failIf((call, path) => {
            const isStep = call !== 'remove' || path.endsWith(LIVE)
            if (!isStep || ++calls !== step) return false
            failed = call
            return true
          })
          const error = await repository.transact(remove(LIVE)).catch(itself)
          disk.failIf(() => false)
          isFailing = failed !== ''
          const at = `step ${step}: ${failed}`
          expect(error?.code, at).to.equal(error ? 'ENOSPC' : undefined)
          const now = refsOf(folder)
          if (error) expect([before, without(before, LIVE)], at).to.deep.include(now)
          else expect(now, at).to.deep.equal(without(before, LIVE))
          expect(Object.fromEntries(repository.refs.snapshot().refs), at).to.deep.equal(now)
          await journal.checkpoint()
          expect(leftovers(folder), at).to.deep.equal([])
          await repository.transact(remove(LIVE))
          expect(refsOf(folder), at).to.deep.equal(without(before, LIVE))
          expectSound(folder)
        }
      })
    })
  }

  it('moves nothing at all when another ref, or the one to delete, holds something else', async () => {
    const { folder } = repositoryWith('loose and packed')
    const before = refsOf(folder)
    const moves = {
      live: { ref: LIVE, expected: second, target: undefined, follows: true },
      main: to(MAIN, third, first),
    }
    for (const wrong of [
      [{ ...moves.live, expected: first }, moves.main],
      [moves.live, to(MAIN, second, first)],
      [{ ref: 'refs/environments/absent', expected: first, target: undefined, follows: true }, moves.main],
      [{ ref: 'refs/environments/a', expected: undefined, target: undefined, follows: true }, moves.main],
    ]) {
      const refs = new RefReader(nodeFs, folder)
      const decide = () => Promise.reject(new Error('decided'))
      expect(await moveRefs(nodeFs, folder, refs, wrong, decide).catch(itself)).to.be.instanceOf(RefMoved)
      expect(refsOf(folder)).to.deep.equal(before)
      expect(leftovers(folder)).to.deep.equal([])
    }
  })

  it('takes the peeled value of a packed tag with it, and no other', async () => {
    const { folder, repository } = repositoryWith('packed')
    git(folder, ['tag', '-a', '-m', 'Two', 'v2', second])
    git(folder, ['pack-refs', '--all'])
    const byGit = temporaryFolder()
    cpSync(folder, byGit, { recursive: true })
    await repository.transact(remove('refs/tags/v1'))
    git(byGit, ['update-ref', '-d', 'refs/tags/v1'])
    const packed = readFileSync(`${folder}/packed-refs`, 'utf8')
    expect(packed).to.equal(readFileSync(`${byGit}/packed-refs`, 'utf8'))
    expect(packed).to.contain(`^${second}\n`).and.not.contain(`^${first}`)
    expectSound(folder)
  })

  it('that is not there is no error, writes nothing by itself, and hinders no other move', async () => {
    const calls: string[] = []
    const { folder, repository } = repositoryWith('loose', {
      ...nodeFs,
      create: (path, bytes) => (calls.push(path), nodeFs.create(path, bytes)),
    })
    await repository.transact(remove('refs/environments/absent'))
    expect(calls).to.deep.equal([])
    git(folder, ['update-ref', 'refs/environments/folder/deep', first])
    await repository.transact(async (transaction) => {
      transaction.removeDerivedRef('refs/environments/absent')
      transaction.removeDerivedRef('refs/environments/folder')
      transaction.removeDerivedRef('refs/nowhere/absent')
      transaction.setDerivedRef('refs/environments/b', first)
    })
    expect(refsOf(folder)).to.include({
      'refs/environments/b': first,
      'refs/environments/folder/deep': first,
    })
    expectSound(folder)
  })

  it('works in memory', async () => {
    const fs = memoryFs()
    fs.makeDir('/store')
    const store = await Store.open(fs, '/store')
    const project = await store.project('default')
    await project.create('workflows', 'bot', { objects: [], refs: new Map([[LIVE, first]]), head: 'main' })
    const repository = project.repository('workflows', 'bot')
    await repository.transact(remove(LIVE))
    expect(repository.refs.snapshot().refs.size).to.equal(0)
    await repository.transact(async (transaction) => transaction.setDerivedRef(LIVE, second))
    await repository.transact(remove(LIVE))
    expect(repository.refs.snapshot().refs.size).to.equal(0)
    await store.close()
  })

  describe('is seen by its own write and those that wait with it:', () => {
    it('the ref is absent, alone and among others', async () => {
      const { repository } = repositoryWith('loose and packed')
      await repository.transact(async (transaction) => {
        transaction.removeDerivedRef(LIVE)
        expect(transaction.ref(LIVE)).to.equal(undefined)
        expect([...transaction.refs('refs/environments/').keys()]).to.deep.equal([
          'refs/environments/a',
          'refs/environments/z',
        ])
        transaction.setDerivedRef(LIVE, third)
        expect(transaction.ref(LIVE)).to.equal(third)
        expect(transaction.refs('refs/environments/').get(LIVE)).to.equal(third)
        transaction.removeDerivedRef(LIVE)
      })
      expect(repository.refs.snapshot().refs.has(LIVE)).to.equal(false)
    })

    const follow: TransactionJob<void> = async (transaction) => transaction.setDerivedRef(LIVE, first)
    const move: TransactionJob<void> = async (transaction) => transaction.move(LIVE, first)
    const sequences: Record<string, readonly TransactionJob<void>[]> = {
      'moved, then deleted': [move, remove(LIVE)],
      'followed, then deleted': [follow, remove(LIVE)],
      'deleted, then moved': [remove(LIVE), move],
      'deleted, then followed': [remove(LIVE), follow],
      'deleted twice': [remove(LIVE), remove(LIVE)],
      'moved, deleted and moved': [move, remove(LIVE), move],
      'deleted, moved and deleted': [remove(LIVE), move, remove(LIVE)],
    }
    for (const [what, jobs] of Object.entries(sequences)) {
      for (const place of ['absent', 'loose', 'loose and packed']) {
        it(`${what} (${place} before)`, async () => {
          const { folder, repository } = repositoryWith(place)
          const isThere = jobs.at(-1) === move || jobs.at(-1) === follow
          const values: (string | undefined)[] = []
          const spied = jobs.map((job) => async (transaction: Transaction) => {
            await job(transaction)
            values.push(transaction.ref(LIVE))
          })
          await Promise.all([
            repository.transact(async () => undefined),
            ...spied.map((job) => repository.transact(job)),
          ])
          expect(values).to.deep.equal(
            jobs.map((job) => (job === move || job === follow ? first : undefined)),
          )
          expect(refsOf(folder)[LIVE]).to.equal(isThere ? first : undefined)
          expect(Object.fromEntries(repository.refs.snapshot().refs)).to.deep.equal(refsOf(folder))
          expectSound(folder)
        })
      }
    }
  })

  describe('among others that write packed-refs', () => {
    it('lets no git pack-refs in before the ref is gone altogether', async () => {
      let tried = 0
      const { folder, repository } = repositoryWith('loose and packed', {
        ...nodeFs,
        remove: (path) => {
          if (path === `${folder}/${LIVE}`) {
            tried++
            expect(() => git(folder, ['-c', 'core.packedRefsTimeout=0', 'pack-refs', '--all'])).to.throw(
              'packed-refs.lock',
            )
          }
          nodeFs.remove(path)
        },
      })
      await repository.transact(remove(LIVE))
      git(folder, ['pack-refs', '--all'])
      expect(tried).to.equal(1)
      expect(refsOf(folder)).not.to.have.property(LIVE)
    })

    it('deletes what git pack-refs packed just before its turn came', async () => {
      let isPacked = false
      const { folder, repository } = repositoryWith('loose', {
        ...nodeFs,
        link: (from, to) => {
          if (to.endsWith('packed-refs.lock') && !isPacked) {
            isPacked = true
            git(folder, ['pack-refs', '--all', '--no-prune'])
          }
          nodeFs.link(from, to)
        },
      })
      await repository.transact(remove(LIVE))
      expect(isPacked).to.equal(true)
      expect(refsOf(folder)).not.to.have.property(LIVE)
      expectSound(folder)
    })

    it('waits for who holds its lock', async () => {
      const { folder, repository } = repositoryWith('packed')
      writeFileSync(`${folder}/packed-refs.lock`, '')
      let isOver = false
      const removed = repository.transact(remove(LIVE)).finally(() => (isOver = true))
      await pause(60)
      expect(isOver).to.equal(false)
      expect(refsOf(folder)[LIVE]).to.equal(second)
      rmSync(`${folder}/packed-refs.lock`)
      await removed
      expect(refsOf(folder)).not.to.have.property(LIVE)
      expectSound(folder)
    })

    it('takes it over from a dead one', async () => {
      const { folder, repository } = repositoryWith('packed')
      const owner = `${folder}/locks/${identityName({ ...thisProcess(), pid: spawnSync('true').pid })}.1`
      mkdirSync(`${folder}/locks`)
      writeFileSync(owner, '')
      nodeFs.link(owner, `${folder}/packed-refs.lock`)
      await repository.transact(remove(LIVE))
      expect(refsOf(folder)).not.to.have.property(LIVE)
      expectSound(folder)
    })

    it('is refused by name, having changed nothing, if it never gets it', async () => {
      const { folder, repository } = repositoryWith('loose and packed')
      writeFileSync(`${folder}/packed-refs.lock`, '')
      const before = refsOf(folder)
      const refusal = await repository.transact(remove(LIVE)).catch(itself)
      expect(refusal.code).to.equal('locked')
      expect(refusal.message).to.contain(`${folder}/packed-refs.lock is held`)
      expect(refsOf(folder)).to.deep.equal(before)
      expect(leftovers(folder)).to.deep.equal(['packed-refs.lock'])
    })
  })

  it('by two servers at once, each seeing what the other did, loses nothing', async () => {
    const { folder, repository } = repositoryWith('loose and packed')
    const other = new Repository(nodeFs, folder, new PackCache(), new Journal(nodeFs, temporaryFolder()))
    // Whoever finds it deletes it, whoever does not makes it, and main counts both.
    const toggle: TransactionJob<void> = async (transaction) => {
      const head = commitOn(transaction, MAIN, transaction.ref(LIVE) === undefined ? 'made' : 'deleted')
      if (transaction.ref(LIVE) === undefined) transaction.setDerivedRef(LIVE, head)
      else transaction.removeDerivedRef(LIVE)
    }
    const rounds = async (server: Repository): Promise<void> => {
      for (let round = 0; round < 15; round++) {
        await Promise.all([server.transact(toggle), server.transact(toggle), server.transact(toggle)])
        git(folder, ['pack-refs', '--all'])
      }
    }
    await Promise.all([rounds(repository), rounds(other)])
    const made = git(folder, ['log', '--reverse', '--format=%s', `${third}..main`]).split('\n')
    expect(made).to.deep.equal(
      Array.from({ length: 90 }, (_, index) => (index % 2 === 0 ? 'deleted' : 'made')),
    )
    expect(refsOf(folder)[LIVE]).to.equal(refsOf(folder)[MAIN])
    expectSound(folder)
  })

  describe('survives a power cut,', () => {
    const values = { first, second, third }
    /** What LIVE is moved to, one write after the other; undefined deletes it. */
    const histories: Record<string, readonly (keyof typeof values | undefined)[]> = {
      'deleted at last': ['first', undefined],
      'set, deleted and set again': ['first', undefined, 'second'],
      'set, deleted and set to the same': ['first', undefined, 'first'],
      'moved to and fro': ['first', 'second', 'first', 'second', 'first'],
      'to and fro, and deleted': ['first', undefined, 'first', 'second', undefined],
    }
    // Once a journal is settled, a power cut leaves nothing of the steps before.
    const unsettled: Fs = { ...nodeFs, syncAll: () => new Promise<void>(() => {}) }
    for (const [what, history] of Object.entries(histories)) {
      for (const servers of [1, 2]) {
        it(`whatever it left of the steps before: ${what} (by ${servers} of the servers)`, async () => {
          for (const place of ['absent', 'loose', 'packed', 'loose and packed']) {
            const { folder, repositories } = await stored(place, servers, unsettled)
            const states = [snapshot(folder)]
            for (const [index, name] of history.entries()) {
              const target = name && values[name]
              await repositories[index % servers]?.transact(
                target === undefined ? remove(LIVE) : setTo(target),
              )
              states.push(snapshot(folder))
            }
            const last = history.at(-1)
            const journaled = snapshot(`${folder}/.journal`)
            for (const [index, state] of states.entries()) {
              for (const torn of [false, true]) {
                const gitdir = `${folder}/default/workflows/bot.git`
                if (torn && !existsSync(`${state}/default/workflows/bot.git/${LIVE}`)) continue
                rmSync(`${folder}/.journal`, { recursive: true })
                cpSync(journaled, `${folder}/.journal`, { recursive: true })
                powerCut(folder, state)
                if (torn) writeFileSync(`${gitdir}/${LIVE}`, '')
                await Store.open(nodeFs, folder)
                const at = `${place}, step ${index}, ${torn ? 'torn' : 'whole'}`
                const live = git(gitdir, ['for-each-ref', '--format=%(objectname)', LIVE])
                expect(live, at).to.equal(last ? values[last] : '')
                expect(journals(folder)).to.deep.equal([])
              }
            }
            expect(
              git(`${folder}/default/workflows/bot.git`, ['fsck', '--strict', '--no-dangling']),
            ).to.equal('')
          }
        })
      }
    }

    it('is not done again where git set the ref later', async () => {
      const { folder, repositories } = await stored('loose', 1)
      await repositories[0]?.transact(remove(LIVE))
      const gitdir = `${folder}/default/workflows/bot.git`
      git(gitdir, ['update-ref', LIVE, third])
      ageJournals(folder)
      await Store.open(nodeFs, folder)
      expect(refsOf(gitdir)[LIVE]).to.equal(third)
    })

    it('is not done if it was refused', async () => {
      const disk = failingFs(nodeFs)
      const { folder, repositories } = await stored('packed', 1, disk.fs)
      disk.failIf((call, path) => call === 'rename' && path.endsWith('packed-refs'))
      expect(await repositories[0]?.transact(remove(LIVE)).catch(itself)).to.have.property('code', 'ENOSPC')
      disk.failIf(() => false)
      ageJournals(folder)
      await Store.open(nodeFs, folder)
      expect(refsOf(`${folder}/default/workflows/bot.git`)[LIVE]).to.equal(second)
    })

    it('which can uncover no older value: the packed line is off the disk before the file goes', async () => {
      const order: string[] = []
      const note = (what: string): void => void order.push(what)
      const { folder, repository } = repositoryWith('loose and packed', {
        ...nodeFs,
        createSynced: async (path, bytes) => (
          await nodeFs.createSynced(path, bytes),
          note('packed-refs synced')
        ),
        rename: (from, to) => (
          to.endsWith('packed-refs') && note('packed-refs named'),
          nodeFs.rename(from, to)
        ),
        syncDir: async (path) => {
          await nodeFs.syncDir(path)
          if (path === folder) note('folder synced')
        },
        remove: (path) => (path.endsWith(LIVE) && note('file removed'), nodeFs.remove(path)),
      })
      await repository.transact(remove(LIVE))
      expect(order).to.deep.equal([
        'packed-refs synced',
        'packed-refs named',
        'folder synced',
        'file removed',
      ])
    })

    it('and its folder is synced with the journal’s next checkpoint', async () => {
      const synced: string[] = []
      const { folder, repository, journal } = repositoryWith('loose', {
        ...nodeFs,
        syncAll: (paths) => (synced.push(...paths), nodeFs.syncAll(paths)),
      })
      await repository.transact(remove(LIVE))
      await journal.close()
      expect(synced).to.include.members([`${folder}/refs/environments`, folder])
    })

    /** A store whose only repository has LIVE in that place, and several servers of it. */
    async function stored(place: string, servers: number, fs: Fs = nodeFs) {
      const { folder: made } = repositoryWith(place)
      const folder = temporaryFolder()
      const stores = [await Store.open(fs, folder)]
      for (let more = 1; more < servers; more++) stores.push(await Store.open(fs, folder))
      mkdirSync(`${folder}/default/workflows`, { recursive: true })
      cpSync(made, `${folder}/default/workflows/bot.git`, { recursive: true })
      const projects = await Promise.all(stores.map((store) => store.project('default')))
      return { folder, repositories: projects.map((project) => project.repository('workflows', 'bot')) }
    }
  })
})

function remove(ref: string): TransactionJob<void> {
  return async (transaction) => transaction.removeDerivedRef(ref)
}

function setTo(target: string): TransactionJob<void> {
  return async (transaction) => transaction.setDerivedRef(LIVE, target)
}

function to(ref: string, expected: string, target: string) {
  return { ref, expected, target, follows: false }
}

/** All refs as git lists them, in both ways that it has. */
function refsOf(folder: string): Record<string, string> {
  const lines = git(folder, ['for-each-ref', '--format=%(objectname) %(refname)'])
  expect(git(folder, ['show-ref'])).to.equal(lines)
  return Object.fromEntries(
    lines
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(' ').reverse()),
  )
}

function without(refs: Readonly<Record<string, string>>, ref: string): Record<string, string> {
  return Object.fromEntries(Object.entries(refs).filter(([name]) => name !== ref))
}

function itself<T>(error: T): T {
  return error
}
