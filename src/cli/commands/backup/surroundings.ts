import type { Shell, Surroundings } from '../../command/command.ts'

/** Around a backup or a restore: the variables that name a server and its key, too. */
export type BackupSurroundings = Surroundings & Pick<Shell, 'environment'>
