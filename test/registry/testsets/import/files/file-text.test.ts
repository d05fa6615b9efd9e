import { expect } from 'chai'
import fc from 'fast-check'
import { Refusal } from '../../../../../src/errors.ts'
import { fileText } from '../../../../../src/registry/testsets/files/file-text.ts'
import { STRETCH, chunksOf } from '../../files/read-rows.ts'

async function textOf(bytes: Buffer, size: number): Promise<string> {
  let text = ''
  for await (const stretch of fileText(chunksOf(bytes, size))) text += stretch.text
  return text
}

/** The place and the byte that a refusal names. */
async function brokenAt(bytes: Buffer): Promise<unknown[]> {
  try {
    await textOf(bytes, 1000)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return [
      error.code,
      error.data.details?.['line'],
      error.data.details?.['column'],
      /0x../.exec(error.message)?.[0],
    ]
  }
  throw new Error('nothing was refused')
}

describe('testset files: text', () => {
  it('is decoded whole however its bytes are cut, less one byte order mark', async () => {
    const words = fc.constantFrom('a', '\n', 'é', '€', '😀', '\ufeff', '\u0000')
    await fc.assert(
      fc.asyncProperty(
        fc.array(words),
        fc.nat(20),
        fc.integer({ min: 1, max: 9 }),
        async (parts, before, size) => {
          const text = 'x' + parts.join('')
          expect(await textOf(Buffer.from('\ufeff' + text), size)).to.equal(text)
          const long = 'x'.repeat(STRETCH - before) + text
          expect(await textOf(Buffer.from(long), 40_000 + size)).to.equal(long)
        },
      ),
    )
    expect(await textOf(Buffer.from('\ufeff'), 1)).to.equal('')
    expect(await textOf(Buffer.from('\ufeff\ufeff'), 1)).to.equal('\ufeff')
  })

  it('says where each stretch begins and ends', async () => {
    const places: unknown[] = []
    const file = '\ufeff' + 'é'.repeat(4500) + '\n' + '😀'.repeat(40_000)
    for await (const { text, place, end } of fileText(chunksOf(file))) places.push([text.length, place, end])
    expect(places.slice(0, 2)).to.deep.equal([
      [4094, { line: 1, column: 1 }, { line: 1, column: 4095 }],
      [406 + 1 + 2 * 1844, { line: 1, column: 4095 }, { line: 2, column: 1845 }],
    ])
  })

  it('is refused at the first byte that is not UTF-8', async () => {
    const broken = (before: string, ...bytes: number[]): Buffer =>
      Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from('xyz\n')])
    expect(await brokenAt(broken('é\n😀', 0xff))).to.deep.equal(['invalid_file', 2, 2, '0xFF'])
    expect(await brokenAt(broken('\ufeff', 0x80))).to.deep.equal(['invalid_file', 1, 1, '0x80'])
    // UTF-16, an overlong slash, a surrogate, a character past the last, a character cut short
    expect(await brokenAt(broken('', 0xff, 0xfe))).to.deep.equal(['invalid_file', 1, 1, '0xFF'])
    expect(await brokenAt(broken('a', 0xc0, 0xaf))).to.deep.equal(['invalid_file', 1, 2, '0xC0'])
    expect(await brokenAt(broken('a', 0xed, 0xa0, 0x80))).to.deep.equal(['invalid_file', 1, 2, '0xED'])
    expect(await brokenAt(broken('a', 0xf5, 0x80, 0x80, 0x80))).to.deep.equal(['invalid_file', 1, 2, '0xF5'])
    expect(await brokenAt(Buffer.from([0x61, 0xe2, 0x82]))).to.deep.equal(['invalid_file', 1, 2, '0xE2'])
    const late = broken('x\n'.repeat(50_000) + 'é', 0xe9)
    expect(await brokenAt(late)).to.deep.equal(['invalid_file', 50_001, 2, '0xE9'])
  })
})
