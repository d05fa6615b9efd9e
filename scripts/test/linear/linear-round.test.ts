import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { checkRegister } from '../../proofs/linear/check-register.ts'
import { linearRound } from '../../proofs/linear/linear-round.ts'
import type { Operation, Register } from '../../proofs/linear/operation.ts'

describe('linearizability: two server processes on one store', () => {
  it('commits, compare-and-set, deployments, retrieves and pushes each happen at one moment', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'branchpoint-linear-'))
    const storeDir = join(folder, 'store')
    try {
      const round = { storeDir, folder, servers: 2, clients: 6, pushers: 1, runFor: 1200 }
      const { registers, problems } = await linearRound(round)
      expect(problems).to.deep.equal([])
      for (const register of registers.values()) expectTeeth(register)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

/** The recorded history, spoilt by what a broken server would have answered, must not pass. */
function expectTeeth(register: Register): void {
  const { operations, versions } = register
  const last = operations.findLast((it) => it.kind === 'read' && it.version > 3)
  const write = operations.find((it) => it.kind === 'write')
  if (last?.kind !== 'read' || write?.kind !== 'write') throw new Error('the history is too short')
  const stale = { ...last, version: 1, value: versions[0]?.values.get(last.key) ?? '' }
  for (const planted of [stale, { ...write, token: 'lost' }, { ...write, version: versions.length + 1 }]) {
    const spoilt: readonly Operation[] = [...operations, planted]
    expect(checkRegister({ ...register, operations: spoilt }), JSON.stringify(planted)).to.not.deep.equal([])
  }
}
