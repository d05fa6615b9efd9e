import { expect } from 'chai'
import { compareFigures } from '../../bench/figures/compare-figures.ts'
import type { Figure } from '../../bench/figures/figure.ts'
import { figureTable } from '../../bench/figures/figure-table.ts'

/** A figure of some rounds, of which the middle one counts. */
function figure(work: string, rounds: readonly [number, number, number] | number): Figure {
  const goal = { is: '≤', value: 100 } as const
  if (typeof rounds === 'number') return { work, value: rounds, unit: 'ms', goal, met: true }
  const [least, value, most] = rounds
  return { work, value, unit: 'ms', spread: { least, most }, goal, met: true }
}

/** The change of one figure from one run to another. */
function change(before: Parameters<typeof figure>[1], now: Parameters<typeof figure>[1]) {
  return compareFigures([figure('it', before)], [figure('it', now)]).changes.get('it')
}

describe('npm run bench -- --compare', () => {
  it('says in percent how a figure changed', () => {
    expect(change(4, 5)?.percent).to.equal(25)
    expect(change(4, 1)?.percent).to.equal(-75)
    expect(change(-4, -2)?.percent).to.equal(50)
    expect(change(0, 1)?.percent).to.equal(undefined)
  })

  it('marks a change only where neither value lies within the other run’s rounds', () => {
    const isBeyond = (...runs: Parameters<typeof change>) => change(...runs)?.isBeyondSpread
    expect(isBeyond([9, 10, 11], [12, 13, 14])).to.equal(true)
    expect(isBeyond([12, 13, 14], [9, 10, 11])).to.equal(true)
    expect(isBeyond([9, 10, 11], [10, 11, 12])).to.equal(false)
    // one run was noisy
    expect(isBeyond([9, 10, 11], [9, 20, 40])).to.equal(false)
    expect(isBeyond([9, 20, 40], [9, 10, 11])).to.equal(false)
    // a single round has nothing to be told apart by
    expect(isBeyond(10, [12, 13, 14])).to.equal(false)
    expect(isBeyond(10, 20)).to.equal(false)
  })

  it('names what only one run has, and does not compare units', () => {
    const before = [figure('both', 1), figure('gone', 1), { ...figure('other unit', 1), unit: 's' }]
    const comparison = compareFigures(before, [figure('both', 1), figure('new', 1), figure('other unit', 1)])
    expect([...comparison.changes.keys()]).to.deep.equal(['both'])
    expect(comparison.onlyBefore).to.deep.equal(['gone', 'other unit'])
    expect(comparison.onlyNow).to.deep.equal(['new', 'other unit'])
  })

  it('prints old figure and change beside each, the marked ones in bold', () => {
    const before = [figure('slower', [9, 10, 11]), figure('alike', [9, 10, 11]), figure('gone', 1)]
    const now = [figure('slower', [12, 13, 14]), figure('alike', [8, 9, 10]), figure('first', 1)]
    expect(figureTable(now, compareFigures(before, now)).split('\n')).to.deep.equal([
      '| work | figure | rounds | ours | floor | goal | met | before | change |',
      '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
      '| slower | 13 ms | 12 to 14 |  |  | ≤ 100 ms | yes | 10 ms | **+30.0 %** |',
      '| alike | 9 ms | 8 to 10 |  |  | ≤ 100 ms | yes | 10 ms | -10.0 % |',
      '| first | 1 ms |  |  |  | ≤ 100 ms | yes |  | new |',
      '',
      'In bold: neither value is within what the rounds of the other run gave.',
      '',
      'Only in the run before:',
      '- gone',
      '',
      'Only in this run:',
      '- first',
      '',
    ])
  })
})
