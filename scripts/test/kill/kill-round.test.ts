import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { killRound } from '../../proofs/kill/kill-round.ts'

// `npm run proof -- kill` does the same with more clients, and many times.
describe('servers: kill -9', () => {
  it('in the middle of a write load loses nothing that was answered', async () => {
    const storeDir = mkdtempSync(join(tmpdir(), 'branchpoint-kill-'))
    const finding = await killRound({ storeDir, artifacts: 2, clients: 8, killAfter: 400 })
    expect(finding.problems).to.deep.equal([])
    expect(finding.acknowledged).to.be.greaterThan(0)
    rmSync(storeDir, { recursive: true })
  })
})
