import { expect } from 'chai'
import { randomBytes } from 'node:crypto'
import { chmodSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import {
  allObjects,
  git,
  gitBytes,
  repositoryWithHistory,
  temporaryFolder,
} from '../support/git/git-program.ts'
import { DamagedObject } from '../../src/git/objects/errors.ts'
import { ObjectDatabase } from '../../src/git/objects/object-database.ts'
import { type GitObject, hashObject, encodeTree } from '../../src/git/objects/object.ts'
import { PackCache } from '../../src/git/packs/pack-cache.ts'
import { StreamingPackWriter } from '../../src/git/packs/streaming-pack-writer.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'

const row = (number: number): Buffer =>
  Buffer.from(`{"answer":"${number}","question":"What is ${number}, and why is it so?"}\n`)
const open = (folder: string): ObjectDatabase => new ObjectDatabase(nodeFs, folder, new PackCache())
const text = (object: GitObject | undefined): string | undefined => object?.bytes.toString('latin1')

/** A repository with a branch on which these contents are files, packed by us. */
async function repositoryWith(contents: readonly Buffer[]): Promise<{ folder: string; oids: string[] }> {
  const folder = temporaryFolder()
  git(folder, ['init', '--quiet', '--bare', '--initial-branch=main', '.'])
  const builder = new StreamingPackWriter(nodeFs, folder)
  const oids = contents.map((content) => builder.add('blob', content))
  const files = oids.map((oid, number) => ({
    mode: '100644' as const,
    name: String(number).padStart(6, '0'),
    oid,
  }))
  const tree = builder.add('tree', encodeTree(files))
  const staged = (await builder.finish())!
  staged.publish()
  staged.release()
  git(folder, ['update-ref', 'refs/heads/main', git(folder, ['commit-tree', tree, '-m', 'rows'])])
  return { folder, oids }
}

describe('git: many objects at once', () => {
  describe('are what they are one by one', () => {
    const contents = Array.from({ length: 2000 }, (_, number) =>
      number % 400 === 7 ? randomBytes(1000 * number) : row(number % 7 === 0 ? number % 70 : number),
    )
    let folder = ''
    let oids: string[] = []
    before(async () => {
      ;({ folder, oids } = await repositoryWith(contents))
    })
    const layouts: Record<string, () => unknown> = {
      'in our pack': () => {},
      'after git gc': () => git(folder, ['gc', '--quiet']),
      'in packs of at most 1 MiB': () => git(folder, ['repack', '-adfq', '--max-pack-size=1m']),
      'with deltas on ids': () => git(folder, ['-c', 'repack.useDeltaBaseOffset=false', 'repack', '-adfq']),
      'half of them loose': () => {
        const packs = readdirSync(`${folder}/objects/pack`).filter((name) => name.endsWith('.pack'))
        const pack = readFileSync(`${folder}/objects/pack/${packs[0]}`)
        for (const name of readdirSync(`${folder}/objects/pack`)) {
          renameSync(`${folder}/objects/pack/${name}`, `${folder}/${name}`)
        }
        git(folder, ['unpack-objects', '-q'], pack)
        git(folder, ['repack', '-q', '--window=0'])
      },
    }
    for (const [layout, change] of Object.entries(layouts)) {
      it(layout, async () => {
        change()
        const orders = {
          'in order': oids,
          backwards: oids.toReversed(),
          shuffled: oids.toSorted(),
          sparse: oids.filter((_, number) => number % 3 === 0),
          'each twice': oids.flatMap((oid) => [oid, oid]),
        }
        for (const [order, asked] of Object.entries(orders)) {
          const store = open(folder)
          for (let start = 0; start < asked.length; start += 700) {
            const batch = asked.slice(start, start + 700)
            const objects = await store.readMany(batch)
            const got = objects.map((object) => object && hashObject(object.kind, object.bytes))
            expect(got, order).to.deep.equal(batch)
          }
        }
      })
    }
  })

  it('may be of any kind, deltas of deltas included', async () => {
    const folder = repositoryWithHistory(300)
    git(folder, ['repack', '-adfq', '--depth=50', '--window=50'])
    const objects = allObjects(folder)
    const many = await open(folder).readMany(objects.map(({ oid }) => oid))
    expect(many.map((object) => object?.kind)).to.deep.equal(objects.map(({ kind }) => kind))
    const inPackOrder = git(folder, ['rev-list', '--objects', 'main']).split('\n').map((line) => line.slice(0, 40)) // prettier-ignore
    // what deltas were built on is remembered from the first time on, and its entry not inflated again
    const store = open(folder)
    for (const order of [inPackOrder, inPackOrder, inPackOrder.toReversed(), inPackOrder.toSorted()]) {
      const again = await store.readMany(order)
      expect(again.map((object) => object && hashObject(object.kind, object.bytes))).to.deep.equal(order)
    }
  })

  it('are undefined where they are absent', async () => {
    const { folder, oids } = await repositoryWith([row(1), row(2)])
    const absent = hashObject('blob', row(3))
    const many = await open(folder).readMany([absent, oids[0]!, absent, oids[1]!])
    expect(many.map(text)).to.deep.equal([undefined, String(row(1)), undefined, String(row(2))])
    expect(await open(folder).readMany([])).to.deep.equal([])
    expect(await open(temporaryFolder()).readMany([absent])).to.deep.equal([undefined])
  })

  it('are looked for elsewhere where a copy is damaged, and refused where there is no other', async () => {
    const contents = Array.from({ length: 50 }, (_, number) => row(number))
    const { folder, oids } = await repositoryWith(contents)
    const pack = `${folder}/objects/pack/${readdirSync(`${folder}/objects/pack`).find((name) => name.endsWith('.pack'))}` // prettier-ignore
    const sound = readFileSync(pack)
    const at = sound.indexOf(row(20))
    const damage: Record<string, number> = {
      'in its content': at + 5,
      'in its checksum': at + row(20).length + 1,
      'in its zlib header': at - 7,
      'in its size': at - 8,
      'in its kind': at - 9,
    }
    chmodSync(pack, 0o644)
    for (const [place, position] of Object.entries(damage)) {
      const damaged = Buffer.from(sound)
      damaged[position]! ^= 0x10
      writeFileSync(pack, damaged)
      const error = await open(folder).readMany(oids).catch((reason) => reason) // prettier-ignore
      expect(error, place).to.be.instanceOf(DamagedObject)
      expect(error.message, place).to.contain(oids[20])
    }
    const loose = gitBytes(folder, ['hash-object', '--stdin'], row(20)).toString().trim()
    expect(loose).to.equal(oids[20])
    const copy = temporaryFolder()
    git(copy, ['init', '--quiet', '--bare', '.'])
    git(copy, ['hash-object', '-w', '--stdin'], row(20))
    nodeFs.makeDir(`${folder}/objects/${loose.slice(0, 2)}`)
    const file = `objects/${loose.slice(0, 2)}/${loose.slice(2)}`
    nodeFs.link(`${copy}/${file}`, `${folder}/${file}`)
    expect((await open(folder).readMany(oids)).map(text)).to.deep.equal(contents.map(String))
  })

  it('are found where git repacks between two batches', async () => {
    const contents = Array.from({ length: 500 }, (_, number) => row(number))
    const { folder, oids } = await repositoryWith(contents)
    const store = open(folder)
    const objects: (GitObject | undefined)[] = []
    for (let start = 0; start < oids.length; start += 100) {
      objects.push(...(await store.readMany(oids.slice(start, start + 100))))
      git(folder, ['repack', '-adfq', `--window=${start / 50}`])
    }
    expect(objects.map(text)).to.deep.equal(contents.map(String))
  })

  it('of a vast pack are read here and there as well as in order', async () => {
    const contents = Array.from({ length: 1000 }, (_, number) =>
      number % 100 === 50 ? randomBytes(1_000_000) : row(number),
    )
    const { folder, oids } = await repositoryWith(contents)
    const store = open(folder)
    const shuffled = oids.map((_, number) => (number * 373) % oids.length)
    for (const number of shuffled) {
      expect((await store.read(oids[number]!))?.bytes.equals(contents[number]!)).to.equal(true)
    }
    const many = await store.readMany(shuffled.map((number) => oids[number]!))
    many.forEach((object, place) => {
      expect(object?.bytes.equals(contents[shuffled[place]!]!)).to.equal(true)
    })
  })
})
