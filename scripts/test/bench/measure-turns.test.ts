import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { readBenchOptions } from '../../bench/bench-options.ts'
import { endServers } from '../../../test/support/servers/child-server.ts'
import { startMonitored } from '../../bench/bench-servers.ts'
import type { Figure } from '../../bench/figures/figure.ts'
import { measureTurns } from '../../bench/measures/measure-turns.ts'

describe('npm run bench -- --only turns', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'bench-'))
  })
  after(async () => {
    await endServers()
    rmSync(folder, { recursive: true })
  })

  it('measures the routes that are asked for, and answers a figure for each size', async () => {
    const figures: Figure[] = []
    const options = readBenchOptions([
      '--turn-bytes',
      '2048',
      '--turn-rows',
      '20',
      '--turn-routes',
      '/queries/q',
    ])
    await measureTurns({ ...options, folder, add: (figure) => void figures.push(figure) })
    expect(figures.map(({ work }) => work)).to.deep.equal(
      ['2 KiB', '20 rows'].map(
        (size) => `the longest piece between two turns of the server, whatever is asked of ${size}`,
      ),
    )
  })

  it('measures no more than what the server did meanwhile', async () => {
    const server = await startMonitored(join(folder, 'store'))
    const { answer, turns } = await server.measured(async () => (await fetch(`${server.url}/health`)).status)
    expect(answer).to.equal(200)
    expect(turns.longest).to.be.within(0, process.uptime() * 1000)
    expect(turns.peak).to.be.above(0)
    await server.stop()
  })
})
