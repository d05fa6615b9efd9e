import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { readBenchOptions } from '../../bench/bench-options.ts'
import { endServers } from '../../../test/support/servers/child-server.ts'
import type { Figure } from '../../bench/figures/figure.ts'
import { measureIndex } from '../../bench/measures/measure-index.ts'

describe('npm run bench: the index of a store', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'bench-'))
  })
  after(async () => {
    await endServers()
    rmSync(folder, { recursive: true })
  })

  it('is measured from its start to its size on the disk, with the answers that belong to it', async () => {
    const figures: Figure[] = []
    const options = readBenchOptions(['--rounds', '1', '--indexed', '100'])
    await measureIndex({ ...options, folder, add: (figure) => figures.push(figure) })
    expect(figures).to.have.length(10)
    for (const { work, value } of figures) {
      expect(work).to.match(/^100 artifacts of 3 revisions: /)
      expect(value, work).to.satisfy(Number.isFinite)
    }
  })
})
