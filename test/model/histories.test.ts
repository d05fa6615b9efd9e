import fc from 'fast-check'
import { memoryFs } from '../../src/git/memory-fs.ts'
import { arbitraryHistory } from './arbitrary-history.ts'
import { runHistory } from './run-history.ts'

describe('histories', () => {
  it('every answer is what the interface says, and a rebuilt index answers the same', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryHistory(60), async (steps) => {
        await runHistory(steps, { fs: memoryFs(), storeDir: '/store', servers: 1 })
      }),
      {
        numRuns: Number(process.env['RUNS'] ?? 12),
        seed: Number(process.env['SEED'] ?? 1),
        endOnFailure: process.env['SHRINK'] === undefined,
      },
    )
  })
})
