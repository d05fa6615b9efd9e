import { expect } from 'chai'
import { CorruptObject } from '../../../src/git/objects/errors.ts'
import { applyDelta } from '../../../src/git/packs/pack-reader.ts'

const base = Buffer.from('0123456789')
const delta = (...bytes: number[]) => Buffer.from(bytes)

describe('git: deltas', () => {
  it('copies and inserts', () => {
    const made = applyDelta(base, delta(10, 9, 0x91, 2, 4, 2, 0x41, 0x42, 0x90, 3))
    expect(made.toString()).to.equal('2345AB012')
  })

  it('copies 64 KiB where the length is left out, and far offsets', () => {
    const long = Buffer.alloc(0x1020000, 1)
    long[0x1000000] = 9
    // sizes as groups of seven bits: 0x1020000 and 0x10000
    const made = applyDelta(long, delta(0x80, 0x80, 0x88, 0x08, 0x80, 0x80, 0x04, 0x88, 0x01))
    expect(made.length).to.equal(0x10000)
    expect(made[0]).to.equal(9)
  })

  it('makes an empty object', () => {
    expect(applyDelta(base, delta(10, 0)).length).to.equal(0)
  })

  it('refuses what does not fit', () => {
    const bad: Record<string, Buffer> = {
      'another base size': delta(11, 1, 0x90, 1),
      'past the base': delta(10, 9, 0x91, 8, 9),
      'past the object': delta(10, 2, 0x90, 3),
      'insert past the object': delta(10, 1, 2, 65, 66),
      'insert past the delta': delta(10, 9, 5, 65),
      'cut in an instruction': delta(10, 9, 0x91),
      'cut in a size': delta(0x80),
      'too short': delta(10, 9, 0x90, 3),
      'reserved instruction': delta(10, 1, 0),
      'absurd promise': delta(10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f),
      empty: delta(),
    }
    for (const [name, bytes] of Object.entries(bad)) {
      expect(() => applyDelta(base, bytes), name).to.throw(CorruptObject)
    }
  })
})
