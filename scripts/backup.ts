import { BACKUP_USAGE, backupCommand } from './backup/backup-command.ts'
import { runProgram } from './backup/run-program.ts'

await runProgram({
  usage: BACKUP_USAGE,
  command: backupCommand,
  stopped: 'Stopped; what is mirrored is whole, and the next run goes on from there.',
})
