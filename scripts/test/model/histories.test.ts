import fc from 'fast-check'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { arbitraryHistory } from '../../proofs/model/arbitrary/arbitrary-history.ts'
import { proveOnDisk } from '../../proofs/model/prove-on-disk.ts'
import { runHistory } from '../../proofs/model/run-history.ts'
import type { Step } from '../../proofs/model/step.ts'

// A failing history is told as it is; `npm run proof -- model` shrinks it.
describe('histories', () => {
  it('every answer is what the interface says, and a rebuilt index answers the same', () =>
    holds(8, 60, (steps) => runHistory(steps, { fs: memoryFs(), storeDir: '/store', servers: 1 })))

  it('two servers over one folder answer alike, and git reads the same revisions', () =>
    holds(3, 40, (steps) => proveOnDisk(steps, 2)))
})

async function holds(
  numRuns: number,
  maxSteps: number,
  prove: (steps: readonly Step[]) => Promise<unknown>,
): Promise<void> {
  const property = fc.asyncProperty(arbitraryHistory(maxSteps), async (steps) => void (await prove(steps)))
  await fc.assert(property, { numRuns, seed: 1, endOnFailure: true })
}
