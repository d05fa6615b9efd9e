import { join } from 'node:path'
import { git } from '../../../test/support/git/git-program.ts'
import { pickFrom } from './plan/pick-targets.ts'
import type { ModelState } from './state/model-state.ts'
import type { Pick, Upkeep } from './step.ts'

/** Does it to one of the artifacts' repositories. */
export function keepHouse(folder: string, { artifacts }: ModelState, upkeep: Upkeep, pick: Pick): void {
  const artifact = pickFrom(artifacts, pick)
  if (artifact) git(join(folder, `${artifact.slug}.git`), upkeep.split(' '))
}
