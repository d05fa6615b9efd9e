import { expect } from 'chai'
import { judgeSoak } from '../../proofs/soak/judge-soak.ts'
import type { Sample } from '../../proofs/soak/sample.ts'
import { soakTable } from '../../proofs/soak/soak-table.ts'
import { soakOf } from './soak-of.ts'

const MB = 1024 * 1024

describe('npm run proof -- soak: whether a soak was flat', () => {
  it('finds nothing where nothing grows, whatever happened in the first half', () => {
    expect(judgeSoak(soakOf())).to.deep.equal([])
    const warmingUp = (part: number) => ({ resident: (100 + 300 * Math.min(part, 0.5)) * MB })
    expect(judgeSoak(soakOf(warmingUp))).to.deep.equal([])
  })

  it('takes a sawtooth for what it is', () => {
    const sawtooth = (part: number) => ({ heap: (60 + ((part * 1000) % 50)) * MB })
    expect(judgeSoak(soakOf(sawtooth))).to.deep.equal([])
  })

  const cases: [string, (part: number) => Partial<Sample>, string][] = [
    [
      'memory that leaks',
      (part) => ({ resident: (200 + 40 * part) * MB }),
      'resident memory keeps rising, by 1915 MB a day',
    ],
    [
      'a heap that grows under a resident memory that does not',
      (part) => ({ heap: (60 + 40 * part) * MB }),
      'JavaScript heap in use keeps rising, by 1915 MB a day',
    ],
    [
      'descriptors that stay open',
      (part) => ({ descriptors: 100 + Math.round(60 * part) }),
      'file descriptors went from 133 to 157',
    ],
    [
      'processes that stay',
      (part) => ({ children: part > 0.8 ? 9 : 3 }),
      'processes below it went from 3 to 9',
    ],
    [
      'an event loop that is held up more and more',
      (part) => ({ delayP99: part > 0.75 ? 30 : 10 }),
      'event-loop delay, p99 went from 10.0 ms to 30.0 ms',
    ],
  ]
  for (const [what, change, finding] of cases) {
    it(`finds ${what}`, () => expect(judgeSoak(soakOf(change))).to.deep.equal([finding]))
  }

  it('finds an answer that nobody expected', () => {
    expect(judgeSoak(soakOf(undefined, ['retrieve: 500']))).to.deep.equal(['1 answers were not as expected'])
  })

  it('tells start, middle, end and rise of each measure in a table', () => {
    const lines = soakTable(soakOf((part) => ({ resident: (200 + 40 * part) * MB }))).split('\n')
    expect(lines[0]?.split(/ {2,}/)).to.deep.equal(['', 'start', 'middle', 'end', 'lows an hour'])
    expect(lines[1]?.split(/ {2,}/)).to.deep.equal([
      'resident memory',
      '202 MB',
      '222 MB',
      '238 MB',
      '+79.8 MB',
    ])
  })
})
