import { RESTORE_USAGE, restoreCommand } from './backup/restore-command.ts'
import { runProgram } from './backup/run-program.ts'

await runProgram({
  usage: RESTORE_USAGE,
  command: restoreCommand,
  stopped: 'Stopped; what is restored is whole, and the next run goes on from there.',
})
