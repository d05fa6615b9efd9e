import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { endServers } from '../../../test/support/servers/child-server.ts'
import { feltFigures, type FeltSetting, feltTable } from '../../bench/felt/felt-figures.ts'
import type { Figure } from '../../bench/figures/figure.ts'
import { measureFelt } from '../../bench/measures/measure-felt.ts'

describe('npm run bench -- --only felt', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'bench-'))
  })
  after(async () => {
    await endServers()
    rmSync(folder, { recursive: true })
  })

  it('measures what is felt in three settings, in which nothing is refused', async () => {
    const figures: Figure[] = []
    const sizes = { uploadedRows: 200, readRows: 100, textBytes: 2000, searched: 2, revisions: 3 }
    await measureFelt({ folder, feltSeconds: 0.3, add: (figure) => void figures.push(figure) }, sizes)
    expect(figures).to.have.length(2 * 4)
    for (const { work, value, note } of figures) {
      if (work.includes('refused')) expect(value, note).to.equal(0)
      else expect(value, work).to.be.above(0)
    }
  })

  it('holds the 99th percentiles against alone, and the silence against its bound or alone', () => {
    const alone = setting('alone', 10, 60)
    const goals = (late: number, silence: number, health = 60) =>
      feltFigures({ ...alone, silence: health }, [setting('others', late, silence)]).map(({ met }) => met)
    expect(goals(80, 100)).to.deep.equal([true, true, true, true])
    expect(goals(81, 101)).to.deep.equal([false, false, false, true])
    expect(goals(80, 150, 100)).to.deep.equal([true, true, true, true])
    expect(goals(80, 151, 100)).to.deep.equal([true, true, false, true])
    const lines = feltTable(alone, [setting('others', 81, 101)]).split('\n')
    expect(lines).to.include('| retrieve | alone | 2 | 5 ms | 1 | 10 ms | 1 |  |')
    expect(lines).to.include('| retrieve | others | 2 | 5 ms | 1 | 81 ms | 8.10 | **missed** |')
    expect(lines).to.include(
      '| /health, the longest silence | others |  |  |  | 101 ms | 1.68 | **missed** |',
    )
  })
})

/** Two requests of each kind, the second of which took `late` milliseconds. */
function setting(name: string, late: number, silence: number): FeltSetting {
  const both = [5, late]
  const times = {
    retrieve: both,
    environment: both,
    commit: both,
    deployment: both,
    query: both,
    run: both,
  }
  return { name, times, refused: [], silence, done: {} }
}
