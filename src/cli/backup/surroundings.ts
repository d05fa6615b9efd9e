import type { Shell, Surroundings } from '../command/command.ts'

/** For backups and restores: also the variables that name a server and its key. */
export type BackupSurroundings = Surroundings & Pick<Shell, 'environment'>
