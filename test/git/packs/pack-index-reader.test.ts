import { expect } from 'chai'
import { createHash } from 'node:crypto'
import { closeSync, ftruncateSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { git, gitBytes, temporaryFolder } from '../../support/git/git-program.ts'
import { ObjectDatabase } from '../../../src/git/objects/object-database.ts'
import { hashObject } from '../../../src/git/objects/object.ts'
import { PackCache } from '../../../src/git/packs/pack-cache.ts'
import { PackEntryTable, encodePackIndex } from '../../../src/git/packs/streaming-pack-writer.ts'
import { encodeEntry } from '../../../src/git/packs/pack-writer.ts'
import { PackIndex } from '../../../src/git/packs/pack-index-reader.ts'
import { packHeader } from '../../../src/git/packs/pack-writer.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { rowsInOrder } from '../rows-in-order.ts'

describe('git: pack indexes', () => {
  it('reach beyond 2 and 4 GiB, for git and for us', async () => {
    const folder = temporaryFolder()
    git(folder, ['init', '--quiet', '--bare', '.'])
    const offsets = [12, 2 ** 31 - 100, 2 ** 31, 2 ** 32 - 1_000_000, 2 ** 32, 5 * 2 ** 30]
    const contents = offsets.map((offset) => Buffer.from(`the row at ${offset}\n`))
    const oids = contents.map((content) => hashObject('blob', content))
    const checksum = createHash('sha1').update('not that of the pack, which nobody reads whole').digest()
    const path = `${folder}/objects/pack/pack-${checksum.toString('hex')}`
    const table = new PackEntryTable()
    // with holes, which take no room on the disk
    const fd = openSync(`${path}.pack`, 'wx')
    writeSync(fd, packHeader(offsets.length), 0, 12, 0)
    offsets.forEach((offset, number) => {
      const entry = encodeEntry('blob', contents[number]!)
      writeSync(fd, entry, 0, entry.length, offset)
      table.add(oids[number]!, offset, 0)
    })
    const end = offsets.at(-1)! + 1000
    writeSync(fd, checksum, 0, 20, end)
    ftruncateSync(fd, end + 20)
    closeSync(fd)
    writeFileSync(`${path}.idx`, Buffer.concat([...encodePackIndex(table, checksum)]))

    const shown = gitBytes(folder, ['show-index'], Buffer.concat([...encodePackIndex(table, checksum)]))
    const listed = new Map(
      [...shown.toString().matchAll(/^(\d+) (\w+)/gm)].map(([, at, oid]) => [oid, Number(at)]),
    )
    expect(oids.map((oid) => listed.get(oid))).to.deep.equal(offsets)
    const ours = new PackIndex(nodeFs, new PackCache(), `${path}.idx`)
    expect(oids.map((oid) => ours.find(oid))).to.deep.equal(offsets)
    const store = new ObjectDatabase(nodeFs, folder, new PackCache())
    const many = await store.readMany(oids)
    for (const [number, oid] of oids.entries()) {
      expect(gitBytes(folder, ['cat-file', 'blob', oid]).equals(contents[number]!)).to.equal(true)
      expect((await store.read(oid))?.bytes.equals(contents[number]!)).to.equal(true)
      expect(many[number]?.bytes.equals(contents[number]!)).to.equal(true)
    }
  })

  it('of any size find what is there, know what is not, and hold little', () => {
    for (const count of [0, 1, 9000, 20_000, 310_000]) {
      const table = new PackEntryTable()
      const oidOf = (number: number): string => hashObject('blob', Buffer.from(`${number}`))
      for (let number = 0; number < count; number++) table.add(oidOf(number), 12 + number, 0)
      const disk = memoryFs()
      disk.makeDir('/pack')
      const bytes = Buffer.concat([...encodePackIndex(table, Buffer.alloc(20))])
      disk.create('/pack/a.idx', bytes)
      const cache = new PackCache()
      const index = new PackIndex(disk, cache, '/pack/a.idx')
      expect(index.count).to.equal(count)
      expect(index.heldBytes).to.be.at.most(256 * 1024)
      const step = Math.max(1, Math.floor(count / 3000))
      for (let number = 0; number < count; number += step) {
        const oid = oidOf(number)
        if (index.find(oid) !== 12 + number) expect.fail(`${oid} is not found among ${count}`)
        if (index.find(oidOf(count + number)) !== undefined) expect.fail('found what is not there')
        if (!index.startingWith(oid.slice(0, 9)).includes(oid)) expect.fail(`${oid} has no prefix`)
      }
      for (const edge of ['0'.repeat(40), 'f'.repeat(40), `${'0'.repeat(39)}1`, `80${'0'.repeat(38)}`]) {
        expect(index.find(edge)).to.equal(undefined)
      }
      if (count > 0) {
        const [firstRow = 0, lastRow = 0] = [rowsInOrder(table)[0], rowsInOrder(table).at(-1)]
        expect(index.find(oidOf(firstRow))).to.equal(12 + firstRow)
        expect(index.find(oidOf(lastRow))).to.equal(12 + lastRow)
      }
      cache.close()
    }
  })

  it('whose many ids stand close together are searched to the end', () => {
    // nearly all of them share their first byte and lie at its beginning: no place can be guessed from them
    const oidOf = (number: number): string => {
      const head = number < 299_000 ? 0x0a000000 + number : 0x0b000000 + number
      return head.toString(16).padStart(8, '0').padEnd(40, '7')
    }
    const oids = Array.from({ length: 300_000 }, (_, number) => oidOf(number))
    const table = new PackEntryTable()
    oids.forEach((oid, number) => table.add(oid, 12 + number, 0))
    const disk = memoryFs()
    disk.makeDir('/pack')
    disk.create('/pack/a.idx', Buffer.concat([...encodePackIndex(table, Buffer.alloc(20))]))
    const index = new PackIndex(disk, new PackCache(), '/pack/a.idx')
    for (const number of [0, 1, 2, 99, 255, 256, 100_000, 150_000, 298_999, 299_000, 299_999]) {
      expect(index.find(oids[number]!), oids[number]).to.equal(12 + number)
    }
    expect(index.find(`0a000001${'0'.repeat(32)}`)).to.equal(undefined)
    expect(index.find(`09ffffff${'0'.repeat(32)}`)).to.equal(undefined)
    expect(index.find(`0affffff${'0'.repeat(32)}`)).to.equal(undefined)
  })
})
