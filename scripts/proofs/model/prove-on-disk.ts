import { git } from '../../../test/support/git/git-program.ts'
import { pickFrom } from './plan/pick-targets.ts'
import type { ModelState } from './state/model-state.ts'
import type { Pick, Upkeep, Step } from './step.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { checkRepositories, idsOfOtherObjects } from './check-repositories.ts'
import type { HistoryOutcome } from './run-history.ts'
import { runHistory } from './run-history.ts'

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

/** Does it to one of the artifacts' repositories. */
function keepHouse(folder: string, { artifacts }: ModelState, upkeep: Upkeep, pick: Pick): void {
  const artifact = pickFrom(artifacts, pick)
  if (artifact) git(join(folder, `${artifact.slug}.git`), upkeep.split(' '))
}
