import type { Surroundings as CommandSurroundings } from '../testset/surroundings.ts'

/** Around a backup or a restore: the variables that name a server and its key, too. */
export interface Surroundings extends CommandSurroundings {
  readonly environment: Readonly<Record<string, string | undefined>>
}
