import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { readBenchOptions } from '../../bench/bench-options.ts'
import { endServers } from '../../../test/support/servers/child-server.ts'
import type { Figure } from '../../bench/figures/figure.ts'
import { measureArtifacts } from '../../bench/measures/measure-artifacts.ts'

describe('npm run bench: stores of artifacts', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'bench-'))
  })
  after(async () => {
    await endServers()
    rmSync(folder, { recursive: true })
  })

  it('are measured by themselves, and the larger against the smaller', async () => {
    const figures: Figure[] = []
    const options = readBenchOptions(['--rounds', '1', '--artifacts', '20,40'])
    await measureArtifacts({ ...options, folder, add: (figure) => figures.push(figure) })
    const works = figures.map(({ work }) => work)
    expect(new Set(works).size).to.equal(6 + 6 + 2)
    expect(works.filter((work) => work.startsWith('20 artifacts: '))).to.have.length(6)
    for (const { work, value } of figures) expect(value, work).to.satisfy(Number.isFinite)
    const growth = figures.find(({ work }) => work === '40 artifacts: ready after, against 20')
    expect(growth?.goal).to.deep.equal({ is: '≤', value: 2.2 })
    expect(growth?.against?.ours).to.be.above(0)
  })
})
