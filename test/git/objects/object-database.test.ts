import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import {
  allObjects,
  git,
  gitBytes,
  repositoryWithHistory,
  temporaryFolder,
} from '../../support/git/git-program.ts'
import { parseCommit, hashObject } from '../../../src/git/objects/object.ts'
import { ObjectDatabase } from '../../../src/git/objects/object-database.ts'
import { PackCache } from '../../../src/git/packs/pack-cache.ts'
import { encodePack } from '../../../src/git/packs/pack-writer.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'

const open = (folder: string, cache = new PackCache()) => new ObjectDatabase(nodeFs, folder, cache)

describe('git: object store', () => {
  describe('reads everything that git writes', () => {
    const folder = repositoryWithHistory(300)
    // one large and one small blob that zlib cannot make smaller, one that it makes tiny
    const blobs = [randomBytes(4_000_000), randomBytes(70_000), Buffer.alloc(5_000_000, 'again ')]
    for (const blob of blobs) {
      const oid = git(folder, ['hash-object', '-w', '--stdin'], blob)
      git(folder, ['update-ref', `refs/keep/${oid}`, oid])
    }
    git(folder, ['tag', '-a', '-m', 'A tag', 'v1', 'main'])
    const layouts: Record<string, () => unknown> = {
      'as fast-import leaves it': () => {},
      'after git gc': () => git(folder, ['gc', '--quiet']),
      'after git repack -adf --depth=50': () => git(folder, ['repack', '-adfq', '--depth=50', '--window=50']),
      'with deltas on ids': () => git(folder, ['-c', 'repack.useDeltaBaseOffset=false', 'repack', '-adfq']),
      'without deltas': () => git(folder, ['repack', '-adfq', '--window=0']),
      'with a multi-pack-index and bitmaps': () => git(folder, ['repack', '-adfqb', '--write-midx']),
      'in packs of at most 1 MiB': () => git(folder, ['repack', '-adfq', '--max-pack-size=1m']),
      loose: () => {
        const packs = readdirSync(`${folder}/objects/pack`).filter((name) => name.endsWith('.pack'))
        const contents = packs.map((name) => nodeFs.readFile(`${folder}/objects/pack/${name}`)!)
        rmSync(`${folder}/objects/pack`, { recursive: true })
        for (const pack of contents) git(folder, ['unpack-objects', '-q'], pack)
      },
    }
    const live = open(folder)

    for (const [layout, change] of Object.entries(layouts)) {
      it(layout, async () => {
        change()
        const objects = allObjects(folder)
        expect(objects.length).to.be.greaterThan(900)
        for (const store of [live, open(folder)]) {
          for (const { oid, kind } of objects) {
            const object = await store.read(oid)
            expect(object?.kind, oid).to.equal(kind)
            expect(hashObject(object!.kind, object!.bytes)).to.equal(oid)
            expect(await store.has(oid)).to.equal(true)
          }
        }
      })
    }
  })

  it('knows what is absent', async () => {
    const store = open(repositoryWithHistory(1))
    const absent = '1234567890'.repeat(4)
    expect(await store.read(absent)).to.equal(undefined)
    expect(await store.has(absent)).to.equal(false)
    expect(await store.startingWith('12345678')).to.deep.equal([])
    expect(await open(temporaryFolder()).read(absent)).to.equal(undefined)
  })

  it('readKind answers bytes of that kind and refuses another', async () => {
    const folder = repositoryWithHistory(1)
    const store = open(folder)
    const head = git(folder, ['rev-parse', 'main'])
    const theirs = gitBytes(folder, ['cat-file', 'commit', head])
    expect((await store.readKind(head, 'commit'))?.equals(theirs)).to.equal(true)
    expect(await store.readKind('0'.repeat(40), 'commit')).to.equal(undefined)
    const refused = await store.readKind(head, 'tree').catch((error) => error)
    expect(refused.code).to.equal('damaged_repository')
    expect(refused.message).to.contain(head).and.contain('is a commit where a tree is needed')
  })

  it('remembers what was written in memory of its own, not in the piece that small buffers share', async () => {
    const store = new ObjectDatabase(memoryFs(), '/repository.git', new PackCache())
    const bytes = Buffer.from('a small blob')
    expect(bytes.buffer.byteLength).to.be.greaterThan(bytes.length)
    const oid = hashObject('blob', bytes)
    store.remember([{ oid, kind: 'blob', bytes }])
    const object = await store.read(oid)
    expect(object?.bytes).to.deep.equal(bytes)
    expect(object?.bytes.buffer.byteLength).to.equal(bytes.length)
  })

  it('finds ids by 4 to 40 digits, loose and packed, each once', async () => {
    const folder = repositoryWithHistory(400)
    for (let number = 0; number < 15; number++)
      git(folder, ['hash-object', '-w', '--stdin'], `loose ${number}`)
    git(folder, ['-c', 'pack.packSizeLimit=0', 'repack', '-q']) // unreachable: stays loose
    const store = open(folder)
    const oids = allObjects(folder).map(({ oid }) => oid)
    const pick = oids.filter((_, number) => number % 25 === 0)
    for (const oid of pick) {
      for (const length of [4, 5, 7, 12, 39, 40]) {
        const prefix = oid.slice(0, length)
        expect(await store.startingWith(prefix)).to.deep.equal(oids.filter((each) => each.startsWith(prefix)))
      }
    }
    const copy = nodeFs.readFile(packOf(folder))!
    git(folder, ['unpack-objects', '-q'], copy) // git leaves out what is packed already
    rmSync(`${folder}/objects/pack`, { recursive: true })
    git(folder, ['unpack-objects', '-q'], copy)
    expect(await open(folder).startingWith(pick[0]!)).to.deep.equal([pick[0]])
    for (const bad of ['abc', 'ABCD', 'g123', '0'.repeat(41), '../..']) {
      expect(await store.startingWith(bad).catch((error) => error)).to.be.instanceOf(RangeError)
    }
  })

  it('sees what git adds and repacks, without being told', async () => {
    const folder = repositoryWithHistory(20)
    const store = open(folder)
    const seen = async () => {
      for (const { oid } of allObjects(folder)) expect(await store.has(oid), oid).to.equal(true)
      for (const { oid } of allObjects(folder)) expect(await store.read(oid), oid).not.to.equal(undefined)
    }
    await seen()
    for (let round = 0; round < 5; round++) {
      const tree = git(folder, ['rev-parse', 'main^{tree}'])
      const commit = git(folder, ['commit-tree', tree, '-p', 'main', '-m', `round ${round}`])
      git(folder, ['update-ref', 'refs/heads/main', commit])
      await seen()
      git(folder, round % 2 ? ['repack', '-q'] : ['gc', '--quiet', '--prune=now'])
      await seen()
    }
  })

  it('forgets what git pruned', async () => {
    const folder = repositoryWithHistory(3)
    const lost = git(folder, ['rev-parse', 'main'])
    const kept = git(folder, ['rev-parse', 'main~1'])
    const store = open(folder)
    expect(await store.has(lost)).to.equal(true)
    git(folder, ['update-ref', 'refs/heads/main', 'main~1'])
    git(folder, ['repack', '-adq'])
    expect(await store.has(lost)).to.equal(false)
    expect(await store.startingWith(lost)).to.deep.equal([])

    const other = open(folder)
    expect(await other.startingWith(kept)).to.deep.equal([kept])
    const cache = new PackCache()
    const listed = open(folder, cache)
    expect(await listed.read(lost)).to.equal(undefined) // has listed the pack
    git(folder, ['repack', '-adfq', '--window=5'])
    cache.close()
    expect(await listed.startingWith(kept)).to.deep.equal([kept])
  })

  it('shares few open files among many repositories', async () => {
    const cache = new PackCache()
    const random = randomBytes(140_000)
    const stores = Array.from({ length: 150 }, (_, number) => {
      const fs = memoryFs()
      let openFiles = 0
      const counting = {
        ...fs,
        open: (path: string) => {
          const handle = fs.open(path)
          if (!handle) return undefined
          openFiles++
          return { ...handle, close: () => (openFiles--, handle.close()) }
        },
      }
      const bytes = Buffer.concat([random, Buffer.from(String(number))])
      const object = { oid: hashObject('blob', bytes), kind: 'blob' as const, bytes }
      const { name, pack, index } = encodePack([object])
      fs.makeDir(`/${number}/objects/pack`)
      fs.create(`/${number}/objects/pack/${name}.pack`, pack)
      fs.create(`/${number}/objects/pack/${name}.idx`, index)
      return { store: new ObjectDatabase(counting, `/${number}`, cache), object, openFiles: () => openFiles }
    })
    for (let round = 0; round < 2; round++) {
      for (const { store, object } of stores) {
        expect((await store.read(object.oid))?.bytes.equals(object.bytes)).to.equal(true)
      }
    }
    const total = stores.reduce((sum, each) => sum + each.openFiles(), 0)
    expect(total).to.be.greaterThan(0).and.at.most(128)
    cache.close()
    expect(stores.reduce((sum, each) => sum + each.openFiles(), 0)).to.equal(0)
  })

  it('misses nothing while git repacks and collects at the same time', async () => {
    const folder = repositoryWithHistory(200)
    const objects = allObjects(folder)
    const store = open(folder)
    const loop = 'for i in 1 2 3 4 5 6; do git repack -adfq --window=1$i; git gc --quiet --prune=now; done'
    const repacking = spawn('sh', ['-ec', loop], { cwd: folder, stdio: 'ignore' })
    const ended = once(repacking, 'exit')
    let reads = 0
    while (repacking.exitCode === null) {
      const { oid } = objects[reads++ % objects.length]!
      expect((await (reads % 3 ? store : open(folder)).read(oid)) !== undefined, oid).to.equal(true)
      if (reads % 10 === 0) await pause(1)
    }
    expect((await ended)[0]).to.equal(0)
    expect(reads).to.be.greaterThan(100)
  })

  it('walks a history in first-parent order, whatever the depth of its deltas', async () => {
    const folder = repositoryWithHistory(500)
    const store = open(folder)
    git(folder, ['repack', '-adfq', '--depth=200', '--window=100'])
    const expected = git(folder, ['rev-list', '--first-parent', 'main']).split('\n')
    const walked: string[] = []
    for (let oid: string | undefined = expected[0]; oid;) {
      walked.push(oid)
      const commit = parseCommit((await store.readKind(oid, 'commit'))!)
      expect(await store.readKind(commit.tree, 'tree')).not.to.equal(undefined)
      oid = commit.parents[0]
    }
    expect(walked).to.deep.equal(expected)
  })
})

function packOf(folder: string): string {
  const name = readdirSync(`${folder}/objects/pack`).find((each) => each.endsWith('.pack'))
  return `${folder}/objects/pack/${name}`
}
