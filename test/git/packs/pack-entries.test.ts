import { expect } from 'chai'
import fc from 'fast-check'
import { hashObject } from '../../../src/git/objects/object.ts'
import { rowsInOrder } from '../rows-in-order.ts'
import { PackEntryTable } from '../../../src/git/packs/streaming-pack-writer.ts'

const idOf = (table: PackEntryTable, row: number): string => {
  const bytes = Buffer.alloc(20)
  table.writeId(row, new DataView(bytes.buffer, bytes.byteOffset, 20), 0)
  return bytes.toString('hex')
}

/** Ids that crowd together: all of few first bytes, many equal but for their ends. */
const crowded = fc
  .tuple(
    fc.constantFrom('00000000', '00000001', '7fffffff', '80000000', 'ffffffff'),
    fc.constantFrom('0'.repeat(28), 'f'.repeat(28)),
    fc.integer({ min: 0, max: 0xffff }).map((end) => end.toString(16).padStart(4, '0')),
  )
  .map((parts) => parts.join(''))
const anyId = fc.oneof(crowded, fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 40, maxLength: 40 })) // prettier-ignore

describe('git: table of the objects of a pack', () => {
  it('finds each object again, and gives all in order of their ids', () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyId, { maxLength: 300 }), anyId, (oids, other) => {
        const table = new PackEntryTable()
        oids.forEach((oid, number) => table.add(oid, 12 + number * 2 ** 30, number))
        expect(table.count).to.equal(oids.length)
        oids.forEach((oid, number) => {
          expect(table.find(oid)).to.equal(number)
          expect(table.offset(number)).to.equal(12 + number * 2 ** 30)
          expect(table.crc(number)).to.equal(number)
        })
        if (!oids.includes(other)) expect(table.find(other)).to.equal(undefined)
        expect([...rowsInOrder(table)].map((row) => idOf(table, row))).to.deep.equal(oids.toSorted())
      }),
      { numRuns: 200 },
    )
  })

  it('grows', () => {
    const table = new PackEntryTable()
    const oids = Array.from({ length: 20_000 }, (_, number) => hashObject('blob', Buffer.from(`${number}`)))
    oids.forEach((oid, number) => table.add(oid, number, 0xffffffff - number))
    oids.forEach((oid, number) => {
      if (table.find(oid) !== number) expect.fail(`${oid} is lost`)
      if (table.crc(number) !== 0xffffffff - number) expect.fail(`the CRC of ${oid} is wrong`)
    })
    expect(table.find('0'.repeat(40))).to.equal(undefined)
    const sorted = oids.toSorted()
    rowsInOrder(table).forEach((row, place) => {
      if (idOf(table, row) !== sorted[place]) expect.fail(`row ${row} is out of order`)
    })
  })
})
