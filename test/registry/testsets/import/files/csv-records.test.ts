import { expect } from 'chai'
import fc from 'fast-check'
import { Refusal } from '../../../../../src/errors.ts'
import { CsvRecords } from '../../../../../src/registry/testsets/files/csv-records.ts'
import { WIDE } from '../../files/read-rows.ts'

/** The records of a file that comes in these stretches, and the refusal that it ends in, if it does. */
function outcome(stretches: readonly string[]): unknown[] {
  const records = new CsvRecords(WIDE)
  const read: unknown[] = []
  try {
    for (const stretch of stretches) read.push(...records.push(stretch))
    return [...read, ...records.finish()]
  } catch (error) {
    if (error instanceof Refusal) return [error.message]
    throw error
  }
}

describe('testset files: CSV records', () => {
  it('are read on where a stretch ends: in a cell, in a quoted one, between two quotes, in a line end', () => {
    for (const file of ['ab,c\n1,2', 'a,b\n"1\n,2",""\n', 'a\n"x""y"""\n""""\n', 'a,"b"\r\n1,"2\r\n"\r\n']) {
      expect(outcome(file.split('')), JSON.stringify(file)).to.deep.equal(outcome([file]))
    }
    expect(outcome([...'a,"b"\r\n"1""",\r\n'])).to.deep.equal([
      { cells: ['a', 'b'], text: 'a,"b"', line: 1 },
      { cells: ['1"', ''], text: '"1""",', line: 2 },
    ])
  })

  it('are the same, and refused in the same words, however small the stretches are', () => {
    const word = fc.constantFrom(
      ',',
      ',',
      '"',
      '"',
      '""',
      '\n',
      '\r\n',
      '\r',
      'a',
      'é',
      ' ',
      '",',
      ',"',
      '"\n',
    )
    const stretches = fc.array(fc.array(word, { minLength: 1, maxLength: 3 }), { maxLength: 8 })
    fc.assert(
      fc.property(stretches, (parts) => {
        const texts = parts.map((words) => words.join(''))
        expect(outcome(['a,b\n', ...texts])).to.deep.equal(outcome([`a,b\n${texts.join('')}`]))
      }),
      { numRuns: 2000 },
    )
  })
})
