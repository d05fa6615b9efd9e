import { expect } from 'chai'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startLinkedPair } from '../../proofs/linear/database-faults.ts'
import { type LinearFinding, linearRound } from '../../proofs/linear/linear-round.ts'
import { needsPostgres } from '../../../test/support/postgres/needs-postgres.ts'

// `npm run proof -- linear --engine postgres` does the same for longer, and with other faults.
describe('linearizability: two servers over a PostgreSQL pair, one of which still has the primary that was replaced', function () {
  before(function () {
    needsPostgres(this)
  })

  it('read nothing stale with READS=quorum', async () => {
    const { problems } = await roundWith('quorum')
    expect(problems).to.deep.equal([])
  })

  it('are found to read stale with READS=primary', async () => {
    let problems: readonly string[] = []
    // Whether somebody reads at one what was written at the other since is chance.
    for (let round = 1; round <= 3 && problems.length === 0; round++)
      ({ problems } = await roundWith('primary'))
    const isStale = (problem: string): boolean =>
      / came before the end of .* and after the start of read of |a stale read|_not_found/.test(problem)
    expect(problems.filter(isStale)).to.not.deep.equal([])
    // Nothing else is wrong: no write is lost, and the folders are equal in the end.
    expect(problems.filter((problem) => !isStale(problem))).to.deep.equal([])
  })
})

async function roundWith(reads: string): Promise<LinearFinding> {
  const folder = mkdtempSync(join(tmpdir(), 'branchpoint-linear-'))
  const { url, fault, stop } = await startLinkedPair(2, 'zombie')
  try {
    const storeDir = join(folder, 'store')
    return await linearRound({
      ...{ storeDir, folder, servers: 2, clients: 6, pushers: 1, runFor: 2000 },
      ...{ database: url, reads, fault },
    })
  } finally {
    await stop()
    rmSync(folder, { recursive: true })
  }
}
