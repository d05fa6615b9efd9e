import { expect } from 'chai'
import { linearAxis, logarithmicAxis } from '../../../scripts/proofs/soak/picture/axis.ts'
import { drawSoak } from '../../../scripts/proofs/soak/picture/draw-soak.ts'
import { soakOf } from './soak-of.ts'

describe('npm run soak: the picture', () => {
  it('is one SVG in which every tag is closed and every place is a number', () => {
    const svg = drawSoak(soakOf((part) => ({ p50: part < 0.1 ? undefined : 2, delayP99: 0 })))
    const open: string[] = []
    for (const [, closing, name = '', alone] of svg.matchAll(/<(\/?)(\w+)(?:\s[^<>]*?)?(\/?)>/g)) {
      if (closing) expect(open.pop()).to.equal(name)
      else if (!alone) open.push(name)
    }
    expect(open).to.deep.equal([])
    expect(svg).to.match(/^<svg /)
    expect(svg).not.to.match(/NaN|Infinity|undefined/)
    expect(svg).to.include('30 minutes of mixed load: flat')
    expect(svg).to.include('324,000 requests')
  })

  it('keeps everything inside, and labels apart from one another', () => {
    const svg = drawSoak(soakOf(() => ({ p50: 19, p99: 20, delayP99: 0, delayMax: 0 })))
    const [, width = 0, height = 0] = (/viewBox="0 0 (\d+) (\d+)"/.exec(svg) ?? []).map(Number)
    for (const [, path = ''] of svg.matchAll(/class="curve"[^>]* d="M([^"]*)"/g)) {
      for (const point of path.split('L')) {
        const [x = -1, y = -1] = point.split(' ').map(Number)
        expect(x).to.be.within(0, width)
        expect(y).to.be.within(0, height)
      }
    }
    const labels = [...svg.matchAll(/<text style="fill:[^"]*" x="[\d.]+" y="([\d.]+)"/g)].map(([, y]) =>
      Number(y),
    )
    expect(labels).to.have.length(10)
    labels.sort((a, b) => a - b)
    for (const [index, y] of labels.slice(1).entries()) expect(y - (labels[index] ?? 0)).to.be.at.least(15)
  })

  it('has round ticks from zero past the largest value, or powers of ten', () => {
    expect(linearAxis(287, 4).ticks).to.deep.equal([0, 100, 200, 300])
    expect(linearAxis(30, 6).ticks).to.deep.equal([0, 5, 10, 15, 20, 25, 30])
    expect(linearAxis(0, 4).ticks[0]).to.equal(0)
    expect(linearAxis(287, 4).heightOf(150)).to.equal(0.5)
    const { ticks, heightOf } = logarithmicAxis(0.1, 35)
    expect(ticks).to.deep.equal([0.1, 1, 10, 100])
    expect([0, 0.1, 100].map(heightOf)).to.deep.equal([0, 0, 1])
    expect(heightOf(1)).to.be.closeTo(1 / 3, 1e-9)
  })
})
