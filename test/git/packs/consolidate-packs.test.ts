import { expect } from 'chai'
import fc from 'fast-check'
import { randomBytes } from 'node:crypto'
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { git, temporaryFolder } from '../../support/git/git-program.ts'
import { createRepository } from '../../../src/git/store/create-repository.ts'
import { syncPublished } from '../../../src/git/journal/journal-record.ts'
import { consolidatePacks, packsToConsolidate } from '../../../src/git/packs/consolidate-packs.ts'
import { Journal } from '../../../src/git/journal/journal.ts'
import { encodeCommit, type ObjectKind, hashObject, encodeTree } from '../../../src/git/objects/object.ts'
import { ObjectDatabase } from '../../../src/git/objects/object-database.ts'
import { PackCache } from '../../../src/git/packs/pack-cache.ts'
import { type EncodedPack, type PackableObject, encodePack } from '../../../src/git/packs/pack-writer.ts'
import type { Fs } from '../../../src/storage/files/fs.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { hastyFs } from '../../support/disk/hasty-fs.ts'

describe('git: many small packs', () => {
  describe('of one checkpoint', () => {
    it('become one, with every object in it', async () => {
      const history = await historyOf(5)
      const gone = await consolidatePacks(nodeFs, history.folder, history.packs)
      expect(gone).to.deep.equal(new Set(history.packs.map(({ name }) => name)))
      expect(packsIn(history.folder)).to.have.length(1)
      await expectWhole(history)
    })

    it('become one in memory, too', async () => {
      const fs = memoryFs()
      const history = await historyOf(5, { fs, store: '/store' })
      await consolidatePacks(fs, history.folder, history.packs)
      expect(fs.readDir(`${history.folder}/objects/pack`)).to.have.length(2)
      const store = new ObjectDatabase(fs, history.folder, new PackCache())
      for (const { oid } of history.objects) expect(await store.read(oid), oid).not.to.equal(undefined)
    })

    it('hold an object once that several of them had', async () => {
      const history = await historyOf(2)
      const [first] = history.packs
      const again = putPack(history.folder, [...history.objects, object('blob', 'one more\n')])
      await consolidatePacks(nodeFs, history.folder, [first!, again])
      const names = packsIn(history.folder)
      expect(names).to.have.length(2)
      const counts = names.map((name) => readFileSync(pathOf(history.folder, name, 'pack')).readUInt32BE(8))
      expect(counts.sort((a, b) => a - b)).to.deep.equal([3, 7])
      await expectWhole(history)
    })

    it('are left as they are where there is only one, or git repacked them meanwhile', async () => {
      const history = await historyOf(3)
      const [first, second] = history.packs
      const noWrites = failingFs((call) => call !== 'sync')
      expect(await consolidatePacks(noWrites, history.folder, [first!])).to.deep.equal(new Set())
      git(history.folder, ['repack', '-adq'])
      expect(await consolidatePacks(noWrites, history.folder, [first!, second!])).to.deep.equal(new Set())
      await expectWhole(history)
    })
  })

  describe('of one size', () => {
    it('become one when there are sixteen of them, and not before', async () => {
      const history = await historyOf(15)
      await consolidatePacks(nodeFs, history.folder, [])
      expect(packsIn(history.folder)).to.have.length(15)
      const more = await historyOf(1, { onto: history })
      await consolidatePacks(nodeFs, history.folder, [])
      expect(packsIn(history.folder)).to.have.length(1)
      await expectWhole(more)
    })

    it('stay few, however many writes there were', async () => {
      let history = await historyOf(1)
      for (let write = 2; write <= 260; write++) {
        history = await historyOf(1, { onto: history })
        await consolidatePacks(hastyFs, history.folder, [])
      }
      // Three sizes: fewer than sixteen of one commit, of sixteen, and one of more.
      expect(packsIn(history.folder).length).to.be.lessThan(32)
      await expectWhole(history)
    })

    it('are those that differ in count by less than a factor of sixteen, the smallest size first', () => {
      const of = (count: number, times: number) => Array.from({ length: times }, () => ({ count }))
      expect(packsToConsolidate([...of(1, 8), ...of(15, 7), ...of(16, 15)])).to.deep.equal([])
      expect(packsToConsolidate([...of(16, 16), ...of(0, 8), ...of(15, 8)])).to.have.deep.members([
        ...of(0, 8),
        ...of(15, 8),
      ])
      expect(packsToConsolidate([...of(255, 8), ...of(16, 8), ...of(256, 15)])).to.have.length(16)
      const counts = fc.array(
        fc.integer({ min: 0, max: 5000 }).map((count) => ({ count })),
        { maxLength: 80 },
      )
      fc.assert(
        fc.property(counts, (packs) => {
          const chosen = packsToConsolidate(packs)
          if (chosen.length === 0) return
          const sizes = chosen.map(({ count }) => Math.max(count, 1))
          expect(chosen.length).to.be.at.least(16)
          expect(Math.max(...sizes) / Math.min(...sizes)).to.be.lessThan(16)
        }),
      )
    })

    it('become one also where git made one of them, with deltas', async () => {
      const history = await historyOf(16)
      const { folder, packs } = history
      for (const { name } of packs.slice(0, 4)) {
        const bytes = readFileSync(pathOf(folder, name, 'pack'))
        for (const end of ['pack', 'idx']) rmSync(pathOf(folder, name, end))
        git(folder, ['unpack-objects', '-q'], bytes)
      }
      // What an incremental repack or a fetch leaves: one small pack, in which similar rows are deltas.
      git(folder, ['-c', 'pack.writeReverseIndex=false', 'repack', '-dq', '--window=10'])
      git(folder, ['prune-packed', '-q'])
      const [theirs] = packsIn(folder).filter((name) => !packs.some((pack) => pack.name === name))
      expect(git(folder, ['verify-pack', '-v', pathOf(folder, theirs!, 'idx')])).to.contain(
        'chain length = 1',
      )
      const more = await historyOf(20, { onto: history })
      await consolidatePacks(nodeFs, folder, []).catch(() => undefined)
      expect(packsIn(folder).length).to.be.lessThan(16)
      await expectWhole(more)
    })
  })

  describe('are left to git', () => {
    for (const companion of ['keep', 'bitmap', 'rev', 'mtimes', 'promisor']) {
      it(`if a .${companion} is beside them`, async () => {
        const history = await historyOf(17)
        const [kept] = history.packs
        writeFileSync(pathOf(history.folder, kept!.name, companion), '')
        const gone = await consolidatePacks(nodeFs, history.folder, history.packs)
        expect(gone.has(kept!.name)).to.equal(false)
        expect(gone.size).to.equal(16)
        expect(packsIn(history.folder)).to.have.length(2).and.include(kept!.name)
        rmSync(pathOf(history.folder, kept!.name, companion))
        await expectWhole(history)
      })
    }

    it('if a multi-pack index knows them', async () => {
      const history = await historyOf(17)
      git(history.folder, ['multi-pack-index', 'write'])
      const before = readdirSync(`${history.folder}/objects/pack`)
      const noWrites = failingFs(() => true)
      expect(await consolidatePacks(noWrites, history.folder, history.packs)).to.deep.equal(new Set())
      expect(readdirSync(`${history.folder}/objects/pack`)).to.deep.equal(before)
      await expectWhole(history)
    })

    it('if they are large', async () => {
      const history = await historyOf(15)
      const large = putPack(history.folder, [object('blob', randomBytes(4_300_000))])
      await consolidatePacks(nodeFs, history.folder, [])
      expect(packsIn(history.folder)).to.have.length(16)
      const more = await historyOf(1, { onto: history })
      await consolidatePacks(nodeFs, history.folder, [])
      expect(packsIn(history.folder)).to.have.length(2).and.include(large.name)
      await expectWhole(more)
    })

    it('if their index is missing or damaged', async () => {
      const history = await historyOf(16)
      const broken = history.packs[3]!
      writeFileSync(pathOf(history.folder, broken.name, 'idx'), broken.index.subarray(0, 1000), {
        flag: 'r+',
      })
      const index = Buffer.from(broken.index)
      index[1100]! ^= 1
      writeFileSync(pathOf(history.folder, broken.name, 'idx'), index)
      const names = packsIn(history.folder)
      expect(await consolidatePacks(nodeFs, history.folder, []).catch(itself)).to.be.instanceOf(Error)
      expect(packsIn(history.folder)).to.deep.equal(names)
      writeFileSync(pathOf(history.folder, broken.name, 'idx'), broken.index)
      rmSync(pathOf(history.folder, broken.name, 'pack'))
      await consolidatePacks(nodeFs, history.folder, [])
      expect(packsIn(history.folder)).to.deep.equal(names)
      writeFileSync(pathOf(history.folder, broken.name, 'pack'), broken.pack)
      await expectWhole(history)
    })
  })

  it('are read by a running server and by git at every step of it', async () => {
    const history = await historyOf(8)
    const live = new ObjectDatabase(nodeFs, history.folder, new PackCache())
    const fresh = new PackCache()
    await live.read(history.objects[0]!.oid)
    let steps = 0
    const reads: Promise<void>[] = []
    const look = (): void => {
      steps++
      // An index without its pack would be damage to git.
      const names = readdirSync(`${history.folder}/objects/pack`)
      for (const name of packsIn(history.folder)) expect(names).to.include(`${name}.pack`)
      for (const store of [live, new ObjectDatabase(nodeFs, history.folder, fresh)]) {
        reads.push(
          ...history.objects.map(async ({ oid, bytes }) => {
            const read = await store.read(oid)
            expect(read?.bytes.equals(bytes), `${oid} after step ${steps}`).to.equal(true)
          }),
        )
      }
    }
    const fs: Fs = {
      ...nodeFs,
      rename: (from, to) => (nodeFs.rename(from, to), look()),
      removeAll: async (paths) => {
        for (const path of paths) {
          await nodeFs.removeAll([path])
          look()
          const listed = git(history.folder, ['rev-list', '--objects', 'main']).split('\n')
          expect(listed).to.have.length(history.objects.length)
        }
      },
    }
    await consolidatePacks(fs, history.folder, history.packs)
    await Promise.all(reads)
    expect(steps).to.equal(18)
    await expectWhole(history)
  })

  describe('on a failing disk', () => {
    it('lose nothing at any step, and become one with the next try', async () => {
      for (let step = 1, failed = true; failed; step++) {
        const history = await historyOf(2)
        let calls = 0
        failed = false
        const fs = failingFs(() => (++calls === step ? (failed = true) : false))
        const result = await consolidatePacks(fs, history.folder, history.packs).catch(itself)
        expect(result instanceof Error, `step ${step}`).to.equal(failed)
        await expectAll(history)
        await consolidatePacks(nodeFs, history.folder, history.packs)
        await expectAll(history)
        expect(step).to.be.lessThan(30)
      }
    })

    it('leave nothing half done behind that the next try does not tidy up', async () => {
      const left: string[] = []
      for (let step = 1, failed = true; failed; step++) {
        const history = await historyOf(2)
        let calls = 0
        let failing = ''
        const fs = failingFs((call) => ++calls === step && (failing = call) !== '')
        await consolidatePacks(fs, history.folder, history.packs).catch(itself)
        failed = failing !== ''
        await consolidatePacks(nodeFs, history.folder, history.packs)
        const rest = readdirSync(`${history.folder}/objects/pack`).filter((name) =>
          /^tmp_|\.keep$/.test(name),
        )
        left.push(...rest.map((name) => `${failing}: ${name.replace(/^.*(?=_|\.)/, '')}`))
      }
      expect(left).to.deep.equal([])
    })
  })

  describe('that a journal tells of', () => {
    it('are on the disk as one, with their refs and the folders of both', async () => {
      const store = temporaryFolder()
      const histories = [
        await historyOf(3, { store, name: 'a.git' }),
        await historyOf(1, { store, name: 'b.git' }),
      ] as const
      const synced = new Set<string>()
      const fs: Fs = {
        ...nodeFs,
        createSynced: (path, bytes) => (synced.add('one pack'), nodeFs.createSynced(path, bytes)),
        syncAll: (paths) => {
          for (const path of paths) synced.add(path)
          return nodeFs.syncAll(paths)
        },
        // Until the folder is synced again, a power cut brings them back, and torn.
        removeAll: (paths) => (synced.delete(`${histories[0].folder}/objects/pack`), nodeFs.removeAll(paths)),
      }
      await syncPublished(fs, store, histories.flatMap(recordsOf))
      const [a, b] = histories
      expect(packsIn(a.folder)).to.have.length(1)
      const [name = ''] = packsIn(b.folder)
      expect([...synced]).to.have.members([
        'one pack',
        pathOf(b.folder, name, 'pack'),
        pathOf(b.folder, name, 'idx'),
        ...[a, b].flatMap(({ folder }) =>
          ['refs/heads/main', 'refs/heads', 'refs', 'objects/pack'].map((path) => `${folder}/${path}`),
        ),
        // What the repositories are known by, and their names: whoever made them may not have come to that.
        ...[a, b].flatMap(({ folder }) =>
          ['HEAD', 'config', 'packed-refs', 'objects'].map((path) => `${folder}/${path}`),
        ),
        a.folder,
        b.folder,
        store,
      ])
      for (const history of histories) await expectWhole(history)
    })

    it('are synced one by one where they cannot become one', async () => {
      const history = await historyOf(3)
      const synced: string[] = []
      const fs: Fs = {
        ...nodeFs,
        createSynced: () => Promise.reject(new Error('full')),
        syncAll: (paths) => (synced.push(...paths), nodeFs.syncAll(paths)),
      }
      await syncPublished(fs, history.store, recordsOf(history))
      const files = history.packs.flatMap(({ name }) =>
        ['pack', 'idx'].map((end) => pathOf(history.folder, name, end)),
      )
      expect(synced).to.include.members(files)
      await expectWhole(history)
    })

    it('may be gone, with their refs or their whole repository', async () => {
      const history = await historyOf(3)
      git(history.folder, ['repack', '-adq'])
      git(history.folder, ['pack-refs', '--all'])
      const records = recordsOf(history)
      await syncPublished(nodeFs, history.store, records)
      await expectWhole(history)
      rmSync(history.folder, { recursive: true })
      await syncPublished(nodeFs, history.store, records)
    })

    it('say so if the disk cannot sync them', async () => {
      const history = await historyOf(2)
      const fs: Fs = { ...nodeFs, syncAll: () => Promise.reject(new Error('broken')) }
      const error = await syncPublished(fs, history.store, recordsOf(history)).catch(itself)
      expect(error).to.be.instanceOf(Error).with.property('message', 'broken')
      await expectAll(history)
    })
  })
})

interface History {
  readonly store: string
  readonly folder: string
  /** One pack a commit, with its tree and its only file. */
  readonly packs: readonly EncodedPack[]
  readonly objects: readonly PackableObject[]
}

/** A repository whose main has so many commits (more of them, `onto` another history), each in a pack of its own. */
async function historyOf(
  commits: number,
  {
    fs = nodeFs,
    store = '',
    name = 'bot.git',
    onto,
  }: { fs?: Fs; store?: string; name?: string; onto?: History } = {},
): Promise<History> {
  const base = onto?.store ?? (store === '' ? temporaryFolder() : store)
  const folder = onto?.folder ?? `${base}/${name}`
  if (!onto) {
    fs.makeDir(base)
    await createRepository(new Journal(fs, base), fs, base, name, {
      objects: [],
      refs: new Map(),
      head: 'main',
    })
    // A pack of no objects, which would be counted here.
    for (const file of fs.readDir(`${folder}/objects/pack`) ?? []) fs.remove(`${folder}/objects/pack/${file}`)
    fs.makeDir(`${folder}/refs/heads`)
  }
  const packs = [...(onto?.packs ?? [])]
  const objects = [...(onto?.objects ?? [])]
  for (let number = 0; number < commits; number++) {
    const added = commitOnto(objects.at(-1), packs.length)
    objects.push(...added)
    packs.push(putPack(folder, added, fs))
  }
  fs.remove(`${folder}/refs/heads/main`)
  fs.create(`${folder}/refs/heads/main`, Buffer.from(`${objects.at(-1)?.oid}\n`))
  return { store: base, folder, packs, objects }
}

/** A blob, a tree that holds it and a commit of that. */
function commitOnto(parent: PackableObject | undefined, number: number): PackableObject[] {
  const line = 'The same in every row, so that git makes deltas of it.\n'
  const blob = object('blob', `${line.repeat(20)}${number}\n`)
  const tree = object('tree', encodeTree([{ mode: '100644', name: 'row', oid: blob.oid }]))
  const author = { name: 'Ann', email: 'ann@example.com', seconds: 1_700_000_000, timezone: '+0000' }
  const parents = parent ? [parent.oid] : []
  const content = { tree: tree.oid, parents, author, committer: author, message: `Row ${number}\n` }
  return [blob, tree, object('commit', encodeCommit(content))]
}

function object(kind: ObjectKind, content: string | Buffer): PackableObject {
  const bytes = Buffer.from(content)
  return { kind, bytes, oid: hashObject(kind, bytes) }
}

function putPack(folder: string, objects: readonly PackableObject[], fs: Fs = nodeFs): EncodedPack {
  const pack = encodePack(objects)
  fs.create(pathOf(folder, pack.name, 'pack'), pack.pack)
  fs.create(pathOf(folder, pack.name, 'idx'), pack.index)
  return pack
}

/** What the journal would hold of it. */
function recordsOf({ folder, store, packs }: History) {
  const repository = folder.slice(store.length + 1)
  return packs.map((pack, id) => ({
    id,
    round: 1,
    repository,
    moves: [{ ref: 'refs/heads/main', target: '' }],
    pack,
  }))
}

function pathOf(folder: string, name: string, end: string): string {
  return `${folder}/objects/pack/${name}.${end}`
}

/** The names of the packs that have an index. */
function packsIn(folder: string): string[] {
  const files = readdirSync(`${folder}/objects/pack`).sort()
  return files.filter((file) => file.endsWith('.idx')).map((file) => file.slice(0, -'.idx'.length))
}

/** Every object is there, for git as for us, and nothing is left half done. */
async function expectWhole(history: History): Promise<void> {
  await expectAll(history)
  const files = readdirSync(`${history.folder}/objects/pack`)
  expect(
    files.filter((file) => !/^pack-[0-9a-f]{40}\.(pack|idx|bitmap|rev)$|^multi-pack-index/.test(file)),
  ).to.deep.equal([])
}

async function expectAll({ folder, objects }: History): Promise<void> {
  expect(git(folder, ['fsck', '--strict', '--no-dangling'])).to.equal('')
  const store = new ObjectDatabase(nodeFs, folder, new PackCache())
  for (const { oid, bytes } of objects) {
    expect((await store.read(oid))?.bytes.equals(bytes), oid).to.equal(true)
  }
}

/** The real disk, not waited for, on which the changes that say yes fail. */
function failingFs(isFailing: (call: string) => boolean): Fs {
  const check = (call: string): void => {
    if (isFailing(call)) throw Object.assign(new Error(`no space: ${call}`), { code: 'ENOSPC' })
  }
  return {
    ...hastyFs,
    create: (path, bytes) => (check('create'), hastyFs.create(path, bytes)),
    createSynced: async (path, bytes) => (check('createSynced'), hastyFs.createSynced(path, bytes)),
    rename: (from, to) => (check('rename'), hastyFs.rename(from, to)),
    syncAll: async (paths) => (check('syncAll'), hastyFs.syncAll(paths)),
    removeAll: async (paths) => {
      for (const path of paths) {
        check('removeAll')
        await hastyFs.removeAll([path])
      }
    },
  }
}

function itself<T>(error: T): T {
  return error
}
