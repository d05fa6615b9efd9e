import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeFs } from '../../../src/storage/node-fs.ts'
import { checkRepositories, idsOfOtherObjects } from './check-repositories.ts'
import { keepHouse } from './keep-house.ts'
import type { HistoryOutcome } from './run-history.ts'
import { runHistory } from './run-history.ts'
import type { Step } from './step.ts'

/**
 * Runs a history on a real folder, where every repository must be one that git itself has nothing against and reads the
 * same revisions from, whatever upkeep it did in between; the derived files are deleted before the store is read again.
 */
export async function proveOnDisk(steps: readonly Step[], servers: number): Promise<HistoryOutcome> {
  const storeDir = mkdtempSync(join(tmpdir(), 'branchpoint-model-'))
  const folder = join(storeDir, 'default', 'workflows')
  try {
    return await runHistory(steps, {
      fs: nodeFs,
      storeDir,
      servers,
      keepHouse: (state, upkeep, pick) => keepHouse(folder, state, upkeep, pick),
      between: (state) => checkRepositories(state, folder),
      unknownRevisions: (state) => idsOfOtherObjects(folder, state),
    })
  } finally {
    rmSync(storeDir, { recursive: true, force: true })
  }
}
