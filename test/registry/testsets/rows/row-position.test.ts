import { expect } from 'chai'
import fc from 'fast-check'
import {
  DEEPEST_POSITION,
  isTooDeep,
  parsePosition,
  positionPath,
  positionsAfter,
  positionsBetween,
  type RowPosition,
} from '../../../../src/registry/testsets/rows/row-position.ts'

const at = (path: string): RowPosition => {
  const position = parsePosition(path)
  if (position === undefined) throw new Error(`${path} is no position`)
  return position
}
const after = (path: string | undefined, count: number) =>
  positionsAfter(path === undefined ? undefined : at(path), count).map(positionPath)
const between = (low: string | undefined, high: string | undefined, count: number) =>
  positionsBetween(low && at(low), high && at(high), count).map(positionPath)

describe('testsets: row positions', () => {
  it('append densely, three bytes each, and leave room before the first row of every folder', () => {
    expect(after(undefined, 2)).to.deep.equal(['00/00/01', '00/00/02'])
    expect(after('12/34/fe', 3)).to.deep.equal(['12/34/ff', '12/35/01', '12/35/02'])
    expect(after('12/ff/ff', 1)).to.deep.equal(['13/00/01'])
    expect(new Set(after(undefined, 1000).map((path) => path.slice(0, 5)))).to.have.lengthOf(4)
  })

  it('append after rows that were inserted or pushed with another length', () => {
    expect(after('00/00/05/80', 1)).to.deep.equal(['00/00/06'])
    expect(after('05', 1)).to.deep.equal(['05/00/01'])
    expect(after('05/ff', 1)).to.deep.equal(['05/ff/01'])
  })

  it('go deeper when the last of three bytes is used up', () => {
    expect(after('ff/ff/fe', 3)).to.deep.equal(['ff/ff/ff', 'ff/ff/ff/00/00/01', 'ff/ff/ff/00/00/02'])
    expect(after('ff/ff/ff/00/00/02', 1)).to.deep.equal(['ff/ff/ff/00/00/03'])
    expect(after('ff/ff/ff/80', 1)).to.deep.equal(['ff/ff/ff/80/00/01'])
  })

  it('put one row in the middle of the gap', () => {
    expect(between('00/00/05', '00/00/06', 1)).to.deep.equal(['00/00/05/80'])
    expect(between('00/00/05', '00/00/09', 1)).to.deep.equal(['00/00/07'])
    expect(between('00/00/05', '00/00/05/80', 1)).to.deep.equal(['00/00/05/40'])
    expect(between('00/00/04', '00/00/05/80', 1)).to.deep.equal(['00/00/05'])
    expect(between('00/00/05/ff', '00/00/06', 1)).to.deep.equal(['00/00/05/ff/80'])
    expect(between(undefined, '00/00/01', 1)).to.deep.equal(['00/00/00/80'])
    expect(between(undefined, undefined, 1)).to.deep.equal(['00/00/01'])
  })

  it('refill a gap with rows of the usual length', () => {
    expect(between('00/00/05', '00/02/03', 1)).to.deep.equal(['00/01/04'])
    expect(between('00/00/ff', '00/02/01', 255))
      .to.have.lengthOf(255)
      .and.include('00/01/01')
  })

  it('put a run into few full folders', () => {
    const run = between('00/00/05', '00/00/06', 600)
    expect(new Set(run.map((path) => path.slice(0, 11)))).to.have.lengthOf(3)
    expect(run[0]).to.match(/^00\/00\/05\/..\/01$/)
    expect(between('00/00/05', '00/00/06', 100_000).every((path) => path.length === 17)).to.equal(true)
  })

  it('throw where nothing fits', () => {
    for (const [low, high] of [
      ['00/00/05', '00/00/05'],
      ['00/00/06', '00/00/05'],
      ['00/00/05/80', '00/00/05'],
    ]) {
      expect(() => between(low, high, 1)).to.throw(RangeError, `between ${low}`)
    }
    expect(() => positionsBetween(undefined, '\0', 1)).to.throw(RangeError)
  })

  it('are written as paths and read back; other texts are none', () => {
    expect(parsePosition('00/3f/05')).to.equal('\x00\x3f\x05')
    expect(parsePosition('ff')).to.equal('\xff')
    for (const text of [
      '',
      '00/3f/00',
      '00/3F/05',
      '00/3f/05/',
      '/00',
      '0/3',
      '00/3f/05.json',
      '00/3f/5',
      '003f',
    ]) {
      expect(parsePosition(text), text).to.equal(undefined)
    }
    expect(parsePosition(Array(DEEPEST_POSITION).fill('01').join('/'))).to.have.lengthOf(DEEPEST_POSITION)
    expect(
      parsePosition(
        Array(DEEPEST_POSITION + 1)
          .fill('01')
          .join('/'),
      ),
    ).to.equal(undefined)
  })

  it('are too deep only after a hundred single insertions at one place', () => {
    for (const isBefore of [true, false]) {
      let [low, high] = positionsAfter(undefined, 2)
      let insertions = 0
      for (;;) {
        const [middle = ''] = positionsBetween(low, high, 1)
        if (isTooDeep(middle)) break
        insertions++
        if (isBefore) high = middle
        else low = middle
      }
      expect(insertions).to.be.within(90, 130)
    }
  })

  it('keep the order through any insertions, appends and removals', () => {
    const step = fc.record({
      place: fc.double({ min: 0, max: 1, noNaN: true }),
      count: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.constantFrom(255, 256, 700)),
      removed: fc.integer({ min: 0, max: 300 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        let rows: RowPosition[] = []
        for (const { place, count, removed } of steps) {
          const index = Math.round(place * rows.length)
          const fresh = positionsBetween(rows[index - 1], rows[index], count)
          expect(fresh).to.have.lengthOf(count)
          rows = [...rows.slice(0, index), ...fresh, ...rows.slice(index)]
          for (let other = 1; other < rows.length; other++) {
            if (!(rows[other - 1]! < rows[other]!))
              expect.fail(`${positionPath(rows[other]!)} is out of order`)
          }
          expect(rows.some((position) => position.length < 3 || position.endsWith('\0'))).to.equal(false)
          rows.splice(Math.round((1 - place) * rows.length), removed)
        }
      }),
      { numRuns: 60 },
    )
  })
})
