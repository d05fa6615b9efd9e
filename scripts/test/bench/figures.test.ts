import { expect } from 'chai'
import { amount } from '../../bench/figures/amount.ts'
import type { Figure } from '../../bench/figures/figure.ts'
import { figureTable } from '../../bench/figures/figure-table.ts'
import { plainFigure } from '../../bench/figures/plain-figure.ts'
import { ratioFigure } from '../../bench/figures/ratio-figure.ts'

const commits = {
  work: 'commit',
  as: '×',
  ours: [4, 9, 6],
  floor: [2, 3, 4],
  unit: 'ms',
  goal: { is: '≤', value: 3 },
} as const

describe('npm run bench: figures', () => {
  it('a ratio is that of the medians, its spread that of the rounds against their own floors', () => {
    expect(ratioFigure(commits)).to.deep.equal({
      work: 'commit',
      value: 2,
      unit: '×',
      spread: { least: 1.5, most: 3 },
      against: { ours: 6, floor: 3, unit: 'ms' },
      goal: { is: '≤', value: 3 },
      met: true,
      note: undefined,
    })
  })

  it('a ratio in percent has its goal in percent', () => {
    const share = { ...commits, as: '%', goal: { is: '≥', value: 200 } } as const
    expect(ratioFigure(share)).to.deep.include({ value: 200, spread: { least: 150, most: 300 }, met: true })
    expect(ratioFigure({ ...share, goal: { is: '≥', value: 201 } }).met).to.equal(false)
  })

  it('a ratio of rounds that did not alternate is none', () => {
    expect(() => ratioFigure({ ...commits, floor: [2, 3] })).to.throw('3 rounds against 2: commit')
  })

  it('a time or size is the median of its rounds, or the farthest from the goal', () => {
    const sizes = { work: 'memory', rounds: [3, 1, 2], unit: 'MB', goal: { is: '≤', value: 2 } } as const
    expect(plainFigure(sizes)).to.deep.include({ value: 2, spread: { least: 1, most: 3 }, met: true })
    expect(plainFigure({ ...sizes, judged: 'worst' })).to.deep.include({ value: 3, met: false })
    const rates = { ...sizes, judged: 'worst', goal: { is: '≥', value: 2 } } as const
    expect(plainFigure(rates)).to.deep.include({ value: 1, met: false })
  })

  it('one round has no spread', () => {
    const one = { work: 'traces', rounds: [10], unit: 'traces', goal: { is: '=', value: 10 } } as const
    expect(plainFigure(one)).to.deep.include({ spread: undefined, met: true })
    expect(plainFigure({ ...one, goal: { is: '=', value: 9 } }).met).to.equal(false)
  })

  it('amounts are written in three or four digits', () => {
    const written = [0.1234, 4.5, 44.52, 612.4, 25_295.3, 5, -3.456, 0].map((value) => amount(value, 'ms'))
    expect(written).to.deep.equal(
      ['0.12', '4.50', '44.5', '612', '25,295', '5', '-3.46', '0'].map((text) => `${text} ms`),
    )
  })

  it('the table has a row for each, with medians, spread and goal', () => {
    const figures: Figure[] = [
      ratioFigure({ ...commits, note: '3 files' }),
      plainFigure({ work: 'memory', rounds: [600], unit: 'MB', goal: { is: '≤', value: 512 } }),
    ]
    expect(figureTable(figures).split('\n')).to.deep.equal([
      '| work | figure | rounds | ours | floor | goal | met |',
      '| --- | --- | --- | --- | --- | --- | --- |',
      '| commit | 2 × (3 files) | 1.50 to 3 | 6 ms | 3 ms | ≤ 3 × | yes |',
      '| memory | 600 MB |  |  |  | ≤ 512 MB | no |',
      '',
    ])
  })
})
