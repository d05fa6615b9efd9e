import { expect } from 'chai'
import { randomBytes } from 'node:crypto'
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { commitBytes } from '../../support/git/commit-bytes.ts'
import { git, temporaryFolder } from '../../support/git/git-program.ts'
import { createRepository } from '../../../src/git/store/create-repository.ts'
import { Journal } from '../../../src/git/journal/journal.ts'
import { hashObject, encodeTree } from '../../../src/git/objects/object.ts'
import { PackCache } from '../../../src/git/packs/pack-cache.ts'
import { encodePack, type StagedPack, stageSynced } from '../../../src/git/packs/pack-writer.ts'
import { Repository } from '../../../src/git/store/repository.ts'
import type { Transaction, TransactionJob } from '../../../src/git/transactions/transaction.ts'
import type { Fs } from '../../../src/storage/files/fs.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { commitOn } from '../../support/git/commit-on.ts'
import { expectSound, leftovers } from '../../support/git/expect-sound.ts'
import { failingFs } from '../../support/disk/failing-fs.ts'

const MAIN = 'refs/heads/main'
const ABSENT = '1234567890'.repeat(4)

describe('git: a write', () => {
  describe('among others that wait', () => {
    it('sees what those before it moved and wrote, and shares their pack', async () => {
      const { repository, folder, packs } = await freshRepository()
      const blob = Buffer.from('of the first\n')
      const [first, second, third] = await together(repository, [
        async (transaction) => {
          expect(transaction.ref(MAIN)).to.equal(undefined)
          transaction.write('blob', blob)
          return commitOn(transaction, MAIN, 'one')
        },
        async (transaction) => {
          expect((await transaction.read(hashObject('blob', blob)))?.bytes.equals(blob)).to.equal(true)
          const parent = transaction.ref(MAIN)
          const oid = commitOn(transaction, MAIN, 'two')
          transaction.move('refs/tags/v1', oid)
          return { parent, oid }
        },
        async (transaction) => ({
          main: transaction.ref(MAIN),
          branches: Object.fromEntries(transaction.refs('refs/heads/')),
          all: [...transaction.refs('refs/').keys()],
        }),
      ])
      expect(second?.parent).to.equal(first)
      expect(third).to.deep.equal({
        main: second?.oid,
        branches: { [MAIN]: second?.oid },
        all: [MAIN, 'refs/tags/v1'],
      })
      expect(packs()).to.have.length(1)
      expect(git(folder, ['rev-list', 'main'])).to.equal(`${second?.oid}\n${first}`)
      expectSound(folder)
    })

    it('sees the refs and objects that were there, and its own before they are stored', async () => {
      const { repository, folder } = await freshRepository()
      const head = await commit(repository, 'one')
      await repository.transact(async (transaction) => {
        expect(transaction.ref(MAIN)).to.equal(head)
        expect((await transaction.read(head))?.kind).to.equal('commit')
        expect(await transaction.read(ABSENT)).to.equal(undefined)
        const blob = transaction.write('blob', Buffer.from('mine\n'))
        expect((await transaction.read(blob))?.bytes.toString()).to.equal('mine\n')
        expect(() => git(folder, ['cat-file', '-e', blob])).to.throw()
        transaction.move(MAIN, commitOn(transaction, 'refs/heads/other', 'two'))
        expect(Object.keys(Object.fromEntries(transaction.refs('refs/heads/')))).to.have.members([
          MAIN,
          'refs/heads/other',
        ])
      })
    })

    it('that throws stores nothing and disturbs no other', async () => {
      const { repository, folder } = await freshRepository()
      const broken = new Error('broken')
      const lost = hashObject('blob', Buffer.from('never stored\n'))
      const [first, error, third] = await together(repository, [
        (transaction) => Promise.resolve(commitOn(transaction, MAIN, 'one')),
        async (transaction): Promise<string> => {
          transaction.write('blob', Buffer.from('never stored\n'))
          commitOn(transaction, MAIN, 'not this')
          transaction.move('refs/tags/lost', transaction.ref(MAIN) ?? '')
          throw broken
        },
        async (transaction) => {
          expect(transaction.ref('refs/tags/lost')).to.equal(undefined)
          return commitOn(transaction, MAIN, 'three')
        },
      ])
      expect(error).to.equal(broken)
      expect(git(folder, ['log', '--format=%H %s', 'main'])).to.equal(`${third} three\n${first} one`)
      expect(git(folder, ['for-each-ref', '--format=%(refname)'])).to.equal(MAIN)
      expect(() => git(folder, ['cat-file', '-e', lost])).to.throw()
      expectSound(folder)
    })

    it('that wants a name no ref can have is refused alone', async () => {
      const { repository, folder } = await freshRepository()
      const head = await commit(repository, 'one')
      git(folder, ['update-ref', 'refs/heads/topic/a', head])
      const [before, refusal, after] = await together(repository, [
        async (transaction) => commitOn(transaction, MAIN, 'before'),
        async (transaction) => commitOn(transaction, 'refs/heads/topic', 'refused'),
        async (transaction) => commitOn(transaction, MAIN, 'after'),
      ])
      expect(refusal).to.have.property('code', 'slug_taken')
      expect(git(folder, ['rev-list', 'main'])).to.equal([after, before, head].join('\n'))
      expectSound(folder)
    })
  })

  describe('counts up a ref without a gap', () => {
    it('fifty at the same time', async () => {
      const { repository, folder } = await freshRepository()
      const numbers = await Promise.all(Array.from({ length: 50 }, () => repository.transact(countUp)))
      expect(numbers).to.deep.equal(upTo(50))
      expect(countedOn(folder)).to.deep.equal(upTo(50))
      expectSound(folder)
    })

    it('more than fit in one batch, in memory', async () => {
      const { repository } = await freshRepository({ fs: memoryFs(), store: '/store' })
      const numbers = await Promise.all(Array.from({ length: 150 }, () => repository.transact(countUp)))
      expect(numbers).to.deep.equal(upTo(150))
    })

    it('two servers on one store, neither losing a step of the other', async () => {
      const { repository, store, folder } = await freshRepository()
      const other = new Repository(nodeFs, folder, new PackCache(), new Journal(nodeFs, store))
      const rounds = async (server: Repository): Promise<number[]> => {
        const numbers: number[] = []
        for (let round = 0; round < 6; round++) {
          numbers.push(...(await Promise.all([1, 2, 3, 4].map(() => server.transact(countUp)))))
        }
        return numbers
      }
      const [mine, theirs] = await Promise.all([rounds(repository), rounds(other)])
      expect([...mine, ...theirs].sort((a, b) => a - b)).to.deep.equal(upTo(48))
      expect(countedOn(folder)).to.deep.equal(upTo(48))
      expectSound(folder)
    })
  })

  it('is worked out again on what git did while it waited for the lock, and loses nothing of either', async () => {
    let meanwhile: (() => void) | undefined
    const fs: Fs = {
      ...nodeFs,
      link: (from, to) => {
        const act = meanwhile
        meanwhile = undefined
        act?.()
        nodeFs.link(from, to)
      },
    }
    const { repository, folder, packs } = await freshRepository({ fs })
    const head = await commit(repository, 'one')
    const before = packs()
    let byHand = ''
    meanwhile = () => {
      byHand = git(folder, ['commit-tree', `${head}^{tree}`, '-p', head, '-m', 'by hand'])
      git(folder, ['update-ref', MAIN, byHand, head])
    }
    const seen: (string | undefined)[] = []
    const last = await repository.transact(async (transaction) => {
      seen.push(transaction.ref(MAIN))
      return commitOn(transaction, MAIN, 'two')
    })
    expect(seen).to.deep.equal([head, byHand])
    expect(git(folder, ['rev-list', 'main'])).to.equal([last, byHand, head].join('\n'))
    expect(packs()).to.have.length(before.length + 1)
    expect(repository.refs.latest.refs.get(MAIN)).to.equal(last)
    expectSound(folder)
  })

  it('moves what follows after what decides, and HEAD', async () => {
    const order: string[] = []
    const fs: Fs = {
      ...nodeFs,
      rename: (from, to) => {
        if (from.endsWith('.lock')) order.push(to.slice(to.indexOf('.git/') + '.git/'.length))
        nodeFs.rename(from, to)
      },
    }
    const { repository, folder } = await freshRepository({ fs })
    await repository.transact(async (transaction) => {
      const oid = commitOn(transaction, 'refs/meta/artifact', 'record')
      transaction.setDerivedRef('HEAD', 'ref: refs/heads/b')
      transaction.setDerivedRef('refs/heads/b', oid)
      // Decides because it is moved, too; and what decides once does not become a follower.
      transaction.setDerivedRef('refs/heads/c', oid)
      transaction.move('refs/heads/c', oid)
      transaction.setDerivedRef('refs/meta/artifact', oid)
    })
    expect(order).to.deep.equal(['refs/heads/c', 'refs/meta/artifact', 'HEAD', 'refs/heads/b'])
    expect(git(folder, ['symbolic-ref', 'HEAD'])).to.equal('refs/heads/b')
    expect(repository.refs.latest.head).to.equal('refs/heads/b')
    expectSound(folder)
  })

  it('is refused while a ref file is damaged, and works once it is mended', async () => {
    const { repository, folder } = await freshRepository()
    await commit(repository, 'one')
    writeFileSync(`${folder}/refs/heads/broken`, 'hello')
    await pause(1)
    expect(await commit(repository, 'two').catch(itself)).to.have.property('code', 'damaged_repository')
    rmSync(`${folder}/refs/heads/broken`)
    const head = await commit(repository, 'three')
    expect(git(folder, ['rev-list', '--count', head])).to.equal('2')
  })

  describe('that adopts a pack', () => {
    const blobs = Array.from({ length: 20 }, (_, number) => Buffer.from(`row ${number}\n`))
    const tree = encodeTree(
      blobs.map((blob, number) => ({ mode: '100644', name: `${number}`, oid: hashObject('blob', blob) })),
    )
    const encoded = encodePack([
      ...blobs.map((bytes) => ({ kind: 'blob' as const, bytes, oid: hashObject('blob', bytes) })),
      { kind: 'tree', bytes: tree, oid: hashObject('tree', tree) },
    ])
    const adopting =
      (pack: StagedPack, ballast = 0): TransactionJob<string> =>
      async (transaction) => {
        transaction.adopt(pack)
        if (ballast > 0) transaction.write('blob', randomBytes(ballast))
        return commitOn(transaction, MAIN, 'rows', hashObject('tree', tree))
      }

    for (const [what, ballast] of Object.entries({
      'a journal can hold': 0,
      'goes to the disk itself': 400_000,
    })) {
      it(`has it in place before the refs, with a .keep until they moved (its own pack ${what})`, async () => {
        const atMove: { pack: boolean; keep: string[] }[] = []
        const fs: Fs = {
          ...nodeFs,
          rename: (from, to) => {
            if (to.endsWith('/main')) {
              const names = readdirSync(`${folder}/objects/pack`)
              const pack = names.includes(`${encoded.name}.pack`) && names.includes(`${encoded.name}.idx`)
              atMove.push({ pack, keep: names.filter((name) => name.endsWith('.keep')) })
            }
            nodeFs.rename(from, to)
          },
        }
        const { repository, folder, packs } = await freshRepository({ fs })
        const pack = await stageSynced(fs, folder, encoded)
        expect(packs()).to.deep.equal([])
        const head = await repository.transact(adopting(pack, ballast))
        expect(atMove).to.have.length(1)
        expect(atMove[0]?.pack).to.equal(true)
        expect(atMove[0]?.keep).to.include(`${encoded.name}.keep`)
        expect(filesIn(folder).filter((name) => !/^pack-\w+\.(pack|idx)$/.test(name))).to.deep.equal([])
        expect(git(folder, ['ls-tree', '--name-only', head]).split('\n')).to.have.length(20)
        expect((await repository.objects.read(hashObject('tree', tree)))?.bytes.equals(tree)).to.equal(true)
        expectSound(folder)
      })
    }

    it('can be built on by those that wait with it, which read what it holds', async () => {
      const { repository, folder, packs } = await freshRepository()
      const pack = await stageSynced(nodeFs, folder, encoded)
      const reading: TransactionJob<unknown> = async (transaction) => {
        const note = transaction.write('blob', Buffer.from('mine'))
        const oids = [
          ...blobs.map((blob) => hashObject('blob', blob)),
          note,
          ABSENT,
          hashObject('tree', tree),
        ]
        const objects = await transaction.readMany(oids)
        commitOn(transaction, MAIN, 'on top')
        return objects.map((object) => object && [object.kind, object.bytes.toString('latin1')])
      }
      const [head, ...read] = await together(repository, [adopting(pack), reading, reading])
      for (const objects of read) {
        expect(objects).to.deep.equal([
          ...blobs.map((blob) => ['blob', blob.toString('latin1')]),
          ['blob', 'mine'],
          undefined,
          ['tree', tree.toString('latin1')],
        ])
      }
      expect(git(folder, ['rev-list', '--reverse', 'main']).split('\n')[0]).to.equal(head)
      // those behind share theirs
      expect(packs()).to.have.length(3)
      expectSound(folder)
    })

    it('needs no objects of its own', async () => {
      const { repository, folder } = await freshRepository()
      const bytes = commitBytes([], 'whole', hashObject('tree', tree))
      const oid = hashObject('commit', bytes)
      const objects = blobs.map((blob) => ({
        kind: 'blob' as const,
        bytes: blob,
        oid: hashObject('blob', blob),
      }))
      const whole = encodePack([
        ...objects,
        { kind: 'tree', bytes: tree, oid: hashObject('tree', tree) },
        { kind: 'commit', bytes, oid },
      ])
      const pack = await stageSynced(nodeFs, folder, whole)
      await repository.transact(async (transaction) => {
        transaction.adopt(pack)
        transaction.move(MAIN, oid)
      })
      expect(filesIn(folder)).to.have.members([`${whole.name}.pack`, `${whole.name}.idx`])
      expectSound(folder)
    })

    it('leaves it to its maker when the job throws', async () => {
      const { repository, folder } = await freshRepository()
      const pack = await stageSynced(nodeFs, folder, encoded)
      const broken = new Error('broken')
      const job: TransactionJob<never> = async (transaction) => {
        await adopting(pack)(transaction)
        throw broken
      }
      expect(await repository.transact(job).catch(itself)).to.equal(broken)
      expect(filesIn(folder).filter((name) => !name.startsWith('tmp_'))).to.deep.equal([])
      pack.discard()
      expect(filesIn(folder)).to.deep.equal([])
    })

    it('moves no ref when the journal cannot grow; discarded, the pack is not kept', async () => {
      const disk = failingFs(nodeFs)
      const { repository, folder } = await freshRepository({ fs: disk.fs })
      const pack = await stageSynced(disk.fs, folder, encoded)
      disk.failIf((call) => call === 'log.sync')
      expect(await repository.transact(adopting(pack)).catch(itself)).to.have.property('code', 'ENOSPC')
      pack.discard()
      disk.failIf(() => false)
      expect(git(folder, ['for-each-ref'])).to.equal('')
      expect(filesIn(folder).filter((name) => !/^pack-\w+\.(pack|idx)$/.test(name))).to.deep.equal([])
      const again = await stageSynced(disk.fs, folder, encoded)
      const head = await repository.transact(adopting(again))
      expect(git(folder, ['rev-parse', 'main'])).to.equal(head)
      expectSound(folder)
    })
  })

  describe('on a disk that fails at any one step', () => {
    const jobs: Record<string, TransactionJob<string>> = {
      'a small one': async (transaction) => commitOn(transaction, MAIN, `${Math.random()}`),
      'a large one': async (transaction) => {
        transaction.write('blob', randomBytes(400_000))
        return commitOn(transaction, MAIN, `${Math.random()}`)
      },
    }
    for (const [what, job] of Object.entries(jobs)) {
      it(`is refused and moves nothing, or is done; the next one works (${what})`, async () => {
        const disk = failingFs(nodeFs)
        const { repository, folder, journal } = await freshRepository({ fs: disk.fs })
        await commit(repository, 'before all')
        const failed: string[] = []
        for (let step = 1; failed.length === step - 1; step++) {
          // What a journal left to do in the background is no step of the write.
          await journal.checkpoint()
          const before = readFileSync(`${folder}/${MAIN}`, 'utf8').trim()
          let calls = 0
          disk.failIf((call) => call !== 'remove' && ++calls === step && failed.push(call) > 0)
          const result = await repository.transact(job).catch((error: NodeJS.ErrnoException) => error)
          disk.failIf(() => false)
          const now = readFileSync(`${folder}/${MAIN}`, 'utf8').trim()
          const at = `step ${step}: ${failed[step - 1]}`
          if (typeof result === 'string') expect(now, at).to.equal(result)
          else {
            expect(result.code, at).to.equal('ENOSPC')
            expect(now, at).to.equal(before)
          }
          expect(repository.refs.snapshot().refs.get(MAIN), at).to.equal(now)
          await journal.checkpoint()
          expect(leftovers(folder), at).to.deep.equal([])
          const next = await commit(repository, `after ${at}`)
          expect(git(folder, ['rev-parse', `${next}~1`]), at).to.equal(now)
        }
        expect(failed).to.include.members(['create', 'link', 'log.append', 'log.sync', 'rename'])
        expectSound(folder)
      })
    }

    it('is answered for if its ref moved, though what should be tidied up afterwards cannot be', async () => {
      const disk = failingFs(nodeFs)
      const { repository, folder } = await freshRepository({ fs: disk.fs })
      const head = await commit(repository, 'one')
      let moved = false
      disk.failIf((call, path) => {
        moved ||= call === 'rename' && path.endsWith('/main')
        return moved && call === 'remove'
      })
      const result = await commit(repository, 'two').catch(itself)
      disk.failIf(() => false)
      const now = git(folder, ['rev-parse', 'main'])
      expect(now).to.equal(typeof result === 'string' ? result : head)
    })
  })
})

interface Fresh {
  readonly store: string
  readonly folder: string
  readonly repository: Repository
  readonly journal: Journal
  /** The packs that came after the repository was made. */
  readonly packs: () => string[]
}

/** An empty repository in a store of its own. */
async function freshRepository({ fs = nodeFs, store = temporaryFolder() } = {}): Promise<Fresh> {
  fs.makeDir(store)
  const journal = new Journal(fs, store)
  const arbiter = journal
  await createRepository(arbiter, fs, store, 'bot.git', { objects: [], refs: new Map(), head: 'main' })
  const folder = `${store}/bot.git`
  // A pack of no objects, which would only be in the way here.
  for (const name of fs.readDir(`${folder}/objects/pack`) ?? []) fs.remove(`${folder}/objects/pack/${name}`)
  await journal.checkpoint()
  return {
    store,
    folder,
    journal,
    repository: new Repository(fs, folder, new PackCache(), arbiter),
    packs: () => filesIn(folder).filter((name) => name.endsWith('.pack')),
  }
}

/** Runs the jobs as one batch: they come in while another one is at work. A job that fails answers its error. */
async function together<const T extends readonly TransactionJob<unknown>[]>(repository: Repository, jobs: T) {
  const first = repository.transact(async () => undefined)
  const results = await Promise.all([...jobs.map((job) => repository.transact(job).catch(itself))])
  await first
  // Each result is that of the job at its place.
  return results as { [K in keyof T]: Awaited<ReturnType<T[K]>> | undefined }
}

function commit(repository: Repository, message: string): Promise<string> {
  return repository.transact(async (transaction) => commitOn(transaction, MAIN, message))
}

/** Commits the number after the one that the head of main says. */
async function countUp(transaction: Transaction): Promise<number> {
  const head = transaction.ref(MAIN)
  const before = head === undefined ? undefined : await transaction.read(head)
  const number = Number(/\d+$/.exec(before?.bytes.toString() ?? '0')) + 1
  commitOn(transaction, MAIN, `${number}`)
  return number
}

/** The numbers on main, oldest first, as git has them. */
function countedOn(folder: string): number[] {
  return git(folder, ['log', '--reverse', '--format=%s', 'main']).split('\n').map(Number)
}

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, number) => number + 1)
}

function filesIn(folder: string): string[] {
  return readdirSync(`${folder}/objects/pack`)
}

function itself<T>(error: T): T {
  return error
}
