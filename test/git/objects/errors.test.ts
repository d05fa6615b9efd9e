import { expect } from 'chai'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { deflateSync } from 'node:zlib'
import { allObjects, git, repositoryWithHistory, temporaryFolder } from '../../support/git/git-program.ts'
import { DamagedObject } from '../../../src/git/objects/errors.ts'
import { ObjectDatabase } from '../../../src/git/objects/object-database.ts'
import { hashObject } from '../../../src/git/objects/object.ts'
import { PackCache } from '../../../src/git/packs/pack-cache.ts'
import { encodePack } from '../../../src/git/packs/pack-writer.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'

const open = (folder: string) => new ObjectDatabase(nodeFs, folder, new PackCache())
const refusal = (promise: Promise<unknown>) => promise.then(() => undefined).catch((error) => error)

describe('git: damaged repositories', () => {
  describe('a loose object', () => {
    const blob = Buffer.from('hello there, this is the content\n')
    const oid = hashObject('blob', blob)
    const whole = deflateSync(Buffer.concat([Buffer.from(`blob ${blob.length}\0`), blob]))
    const damage: Record<string, Buffer> = {
      truncated: whole.subarray(0, -8),
      empty: Buffer.alloc(0),
      'another object': deflateSync(Buffer.from('blob 5\0other')),
      'a wrong size': deflateSync(Buffer.concat([Buffer.from('blob 7\0'), blob])),
      'an unknown kind': deflateSync(Buffer.concat([Buffer.from(`blub ${blob.length}\0`), blob])),
      'no header': deflateSync(Buffer.alloc(100, 'x')),
      'not deflated': blob,
    }
    for (const [what, bytes] of Object.entries(damage)) {
      it(`${what}: is refused by name, never served`, async () => {
        const folder = temporaryFolder()
        const file = `${folder}/objects/${oid.slice(0, 2)}/${oid.slice(2)}`
        mkdirSync(`${folder}/objects/${oid.slice(0, 2)}`, { recursive: true })
        writeFileSync(file, bytes)
        const store = open(folder)
        const refused = await refusal(store.read(oid))
        expect(refused).to.be.instanceOf(DamagedObject)
        expect(refused.code).to.equal('damaged_repository')
        expect(refused.message).to.contain(folder).and.contain(oid).and.contain(file)
      })

      it(`${what}: does no harm beside a sound copy in a pack`, async () => {
        const folder = temporaryFolder()
        mkdirSync(`${folder}/objects/${oid.slice(0, 2)}`, { recursive: true })
        writeFileSync(`${folder}/objects/${oid.slice(0, 2)}/${oid.slice(2)}`, bytes)
        const store = open(folder)
        expect(await refusal(store.read(oid))).to.be.instanceOf(DamagedObject)
        place(folder, encodePack([{ oid, kind: 'blob', bytes: blob }]))
        expect((await store.read(oid))?.bytes.equals(blob)).to.equal(true)
      })
    }
  })

  it('a changed byte anywhere in a pack: every object is refused or right', async () => {
    const folder = repositoryWithHistory(12)
    git(folder, ['repack', '-adfq'])
    const [pack] = filesOf(folder, '.pack')
    const bytes = readFileSync(pack!)
    chmodSync(pack!, 0o644)
    const objects = allObjects(folder)
    let refusals = 0
    for (let at = 0; at < bytes.length - 20; at += 7) {
      const changed = Buffer.from(bytes)
      changed[at]! ^= 0x55
      writeFileSync(pack!, changed)
      const store = open(folder)
      for (const { oid, kind } of objects) {
        const result = await store.read(oid).catch((error) => error)
        if (result instanceof DamagedObject) {
          refusals++
          expect(result.message).to.contain(pack).and.contain(folder).and.contain(oid)
        } else expect(hashObject(result.kind, result.bytes), `byte ${at}`).to.equal(oid)
        expect(result.kind ?? kind).to.equal(kind)
      }
    }
    expect(refusals).to.be.greaterThan(100)
  })

  it('a pack cut short: what lies before the cut is served, the rest is refused', async () => {
    const folder = repositoryWithHistory(50)
    const [pack] = filesOf(folder, '.pack')
    const objects = allObjects(folder)
    chmodSync(pack!, 0o644)
    truncateSync(pack!, Math.floor(readFileSync(pack!).length / 2))
    const store = open(folder)
    const results = await Promise.all(objects.map(({ oid }) => store.read(oid).catch((error) => error)))
    expect(results.some((result) => result instanceof DamagedObject)).to.equal(true)
    expect(results.some((result) => !(result instanceof Error))).to.equal(true)
    expect(results.every((result) => result instanceof DamagedObject || result.bytes)).to.equal(true)
  })

  it('a damaged index hides nothing in silence, and does no harm beside a sound copy', async () => {
    for (const damage of [
      (bytes: Buffer) => bytes.subarray(0, -1),
      (bytes: Buffer) => bytes.subarray(0, 900),
      () => Buffer.alloc(0),
      (bytes: Buffer) => (bytes.fill(0, 1032, 1040), bytes),
      (bytes: Buffer) => withSum(bytes.fill(9, 4, 8)),
      (bytes: Buffer) => withSum(bytes.fill(0xff, 8, 12)),
      (bytes: Buffer) => withSum(Buffer.concat([bytes.subarray(0, 1060), bytes.subarray(-40)])),
    ]) {
      const folder = repositoryWithHistory(3)
      const [index] = filesOf(folder, '.idx')
      const [pack] = filesOf(folder, '.pack')
      const head = git(folder, ['rev-parse', 'main'])
      const contents = readFileSync(pack!)
      chmodSync(index!, 0o644)
      writeFileSync(index!, damage(readFileSync(index!)))
      const store = open(folder)
      for (const promise of [store.read(head), store.has(head), store.startingWith(head.slice(0, 6))]) {
        const refused = await refusal(promise)
        expect(refused).to.be.instanceOf(DamagedObject)
        expect(refused.message).to.contain(index)
      }
      const damaged = readFileSync(index!)
      rmSync(index!)
      git(folder, ['unpack-objects', '-q'], contents)
      writeFileSync(index!, damaged)
      expect((await store.read(head))?.kind).to.equal('commit')
    }
  })

  it('a large index cut short is refused', async () => {
    const folder = temporaryFolder()
    const objects = Array.from({ length: 12_000 }, (_, number) => {
      const bytes = Buffer.from(`object ${number}`)
      return { oid: hashObject('blob', bytes), kind: 'blob' as const, bytes }
    })
    const pack = encodePack(objects)
    place(folder, pack)
    for (const { oid, bytes } of objects.slice(0, 500)) {
      expect((await open(folder).read(oid))?.bytes.equals(bytes)).to.equal(true)
    }
    const store = open(folder)
    expect(await store.startingWith(objects[7]!.oid.slice(0, 12))).to.deep.equal([objects[7]!.oid])
    truncateSync(`${folder}/objects/pack/${pack.name}.idx`, pack.index.length - 1000)
    expect(await refusal(open(folder).read(objects[0]!.oid))).to.be.instanceOf(DamagedObject)
  })

  describe('a pack made by hand', () => {
    const base = Buffer.from('the base of it all')
    const baseOid = hashObject('blob', base)
    const made = Buffer.from('the base and more')
    const madeOid = hashObject('blob', made)
    const delta = Buffer.from([base.length, made.length, 0x90, 9, 8, ...Buffer.from('and more')])
    const blobEntry = entry(3, base)
    const refDelta = (oid: string) => entry(7, delta, Buffer.from(oid, 'hex'))

    it('reads a delta on an id that comes later in the pack', async () => {
      const folder = temporaryFolder()
      placeEntries(folder, [
        { oid: madeOid, bytes: refDelta(baseOid) },
        { oid: baseOid, bytes: blobEntry },
      ])
      expect((await open(folder).read(madeOid))?.bytes.toString()).to.equal('the base and more')
    })

    const broken: Record<string, Buffer> = {
      'a delta on itself': refDelta(madeOid),
      'a delta on what is not in the pack': refDelta('1'.repeat(40)),
      'a delta on what lies before the pack': entry(6, delta, Buffer.from([0xff, 0x7f])),
      'a delta on its own offset': entry(6, delta, Buffer.from([0])),
      'an entry of the reserved type': entry(5, made),
      'an entry of type 0': entry(0, made),
      'a size too small': Buffer.concat([Buffer.from([0x35]), deflateSync(made)]),
      'a size too large': Buffer.concat([Buffer.from([0x3f | 0x80, 0x7f]), deflateSync(made)]),
      'an absurd size': Buffer.concat([
        Buffer.from([0xbf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
        deflateSync(made),
      ]),
    }
    for (const [what, bytes] of Object.entries(broken)) {
      it(`${what} is refused`, async () => {
        const folder = temporaryFolder()
        placeEntries(folder, [
          { oid: baseOid, bytes: blobEntry },
          { oid: madeOid, bytes },
        ])
        const store = open(folder)
        expect(await refusal(store.read(madeOid))).to.be.instanceOf(DamagedObject)
        expect((await store.read(baseOid))?.bytes.equals(base)).to.equal(true)
      })
    }

    it('two deltas on each other are refused', async () => {
      const folder = temporaryFolder()
      placeEntries(folder, [
        { oid: baseOid, bytes: refDelta(madeOid) },
        { oid: madeOid, bytes: refDelta(baseOid) },
      ])
      expect(await refusal(open(folder).read(madeOid))).to.be.instanceOf(DamagedObject)
    })

    it('a file that is no pack, or of another version, or of another count is refused', async () => {
      for (const [at, value] of [
        [0, 0x51],
        [7, 9],
        [11, 5],
      ] as const) {
        const folder = temporaryFolder()
        const encoded = encodePack([{ oid: baseOid, kind: 'blob', bytes: base }])
        encoded.pack[at] = value
        place(folder, encoded)
        expect(await refusal(open(folder).read(baseOid))).to.be.instanceOf(DamagedObject)
      }
    })
  })
})

function filesOf(folder: string, extension: string): string[] {
  const names = readdirSync(`${folder}/objects/pack`).filter((name) => name.endsWith(extension))
  return names.map((name) => `${folder}/objects/pack/${name}`)
}

function place(folder: string, { name, pack, index }: ReturnType<typeof encodePack>): void {
  mkdirSync(`${folder}/objects/pack`, { recursive: true })
  writeFileSync(`${folder}/objects/pack/${name}.pack`, pack)
  writeFileSync(`${folder}/objects/pack/${name}.idx`, index)
}

/** Puts entries as they are into a pack, with an index that finds them. */
function placeEntries(folder: string, entries: readonly { oid: string; bytes: Buffer }[]): void {
  const header = Buffer.from(`PACK\0\0\0\x02\0\0\0${String.fromCharCode(entries.length)}`, 'latin1')
  const rows: { oid: string; offset: number }[] = []
  let offset = 12
  for (const { oid, bytes } of entries) {
    rows.push({ oid, offset })
    offset += bytes.length
  }
  rows.sort((a, b) => (a.oid < b.oid ? -1 : 1))
  const index = Buffer.alloc(8 + 1024 + rows.length * 28)
  index.writeUInt32BE(0xff744f63, 0)
  index.writeUInt32BE(2, 4)
  for (let byte = 0; byte < 256; byte++) {
    const below = rows.filter(({ oid }) => Number.parseInt(oid.slice(0, 2), 16) <= byte).length
    index.writeUInt32BE(below, 8 + byte * 4)
  }
  rows.forEach((row, number) => {
    index.write(row.oid, 1032 + number * 20, 'hex')
    index.writeUInt32BE(row.offset, 1032 + rows.length * 24 + number * 4)
  })
  const pack = withSum(Buffer.concat([header, ...entries.map(({ bytes }) => bytes), Buffer.alloc(20)]))
  place(folder, {
    name: `pack-${pack.toString('hex', pack.length - 20)}`,
    pack,
    index: withSum(Buffer.concat([index, pack.subarray(-20), Buffer.alloc(20)])),
  })
}

/** An entry of at most 2047 bytes. */
function entry(type: number, content: Buffer, base = Buffer.alloc(0)): Buffer {
  const header = Buffer.from([0x80 | (type << 4) | (content.length & 15), content.length >> 4])
  return Buffer.concat([header, base, deflateSync(content)])
}

/** Makes the last 20 bytes the checksum of the others. */
function withSum(bytes: Buffer): Buffer {
  const body = bytes.subarray(0, -20)
  return Buffer.concat([body, createHash('sha1').update(body).digest()])
}
