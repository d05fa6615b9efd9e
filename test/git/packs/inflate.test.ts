import { expect } from 'chai'
import fc from 'fast-check'
import { deflateSync, inflateSync } from 'node:zlib'
import { CorruptObject } from '../../../src/git/objects/errors.ts'
import { inflateExactly, inflateWhole, readStored, storedStream } from '../../../src/git/packs/pack-entry.ts'

const rest = Buffer.from('what follows in the pack')

describe('git: zlib streams', () => {
  it('are stored byte for byte as zlib stores them', () => {
    for (const size of [0, 1, 200, 5552, 5553, 0xffff]) {
      const content = Buffer.alloc(size, 'ÿþ stored ')
      const stream = storedStream(content)
      expect(inflateSync(stream).equals(content), String(size)).to.equal(true)
      if (size > 0) expect(stream.equals(deflateSync(content, { level: 0, memLevel: 9 }))).to.equal(true)
    }
  })

  it('are inflated exactly and measured, whatever made them', () => {
    const levels = fc.constantFrom<(number | 'stored')[]>('stored', 0, 1, 6, 9)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), levels, (content, level) => {
        const stream = typeof level === 'number' ? deflateSync(content, { level }) : storedStream(content)
        const { bytes, streamLength } = inflateExactly(Buffer.concat([stream, rest]), content.length)
        expect(bytes.equals(content)).to.equal(true)
        expect(streamLength).to.equal(stream.length)
        expect(inflateWhole(stream).equals(content)).to.equal(true)
      }),
    )
    for (const level of [0, 6]) {
      const content = Buffer.alloc(200_000, 'more than one block ')
      const stream = deflateSync(content, { level })
      const { bytes, streamLength } = inflateExactly(Buffer.concat([stream, rest]), content.length)
      expect(bytes.equals(content)).to.equal(true)
      expect(streamLength).to.equal(stream.length)
    }
  })

  it('keep nothing of the bytes they were read from', () => {
    const stream = storedStream(Buffer.from('row'))
    const { bytes } = inflateExactly(stream, 3)
    stream.fill(0)
    expect(bytes.toString()).to.equal('row')
  })

  it('are refused if any byte of a stored one is wrong or missing, or the size is another', () => {
    const stream = storedStream(Buffer.from('{"country":"France"}'))
    for (let at = 0; at < stream.length; at++) {
      // the five highest bits of a stored block's first byte are padding that nobody looks at
      for (const flip of at === 2 ? [1, 2, 4] : [1, 0x80, 0xff]) {
        const broken = Buffer.from(stream)
        broken[at]! ^= flip
        expect(() => inflateExactly(broken, 20), `byte ${at}`).to.throw(CorruptObject)
      }
      expect(() => inflateExactly(stream.subarray(0, at), 20), `${at} bytes`).to.throw(CorruptObject)
    }
    for (const size of [0, 19, 21, 0x10000 + 20]) {
      expect(readStored(stream, size)).to.equal(undefined)
      expect(() => inflateExactly(stream, size), String(size)).to.throw(CorruptObject)
    }
  })
})
