import { join } from 'node:path'
import { git } from '../support/git-program.ts'
import { pickFrom } from './plan/pick-targets.ts'
import type { ModelState } from './state/model-state.ts'
import type { Pick } from './step.ts'

/** What somebody's git may do to a repository while servers have it open; none of it changes an answer. */
export const UPKEEP = [
  'gc --quiet',
  'repack -a -d -f -q --depth=50',
  'pack-refs --all',
  'commit-graph write --reachable',
] as const

export type Upkeep = (typeof UPKEEP)[number]

/** Does it to one of the artifacts' repositories. */
export function keepHouse(folder: string, { artifacts }: ModelState, upkeep: Upkeep, pick: Pick): void {
  const artifact = pickFrom(artifacts, pick)
  if (artifact) git(join(folder, `${artifact.slug}.git`), upkeep.split(' '))
}
