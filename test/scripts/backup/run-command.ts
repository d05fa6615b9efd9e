import { readConfig } from '../../../src/config.ts'
import { backupCommand } from '../../../scripts/backup/backup-command.ts'
import type { Report } from '../../../scripts/backup/report/backup-report.ts'
import { restoreCommand } from '../../../scripts/backup/restore-command.ts'

/** Runs `backup` or `restore` as the program does, without the time a process takes to start. */
export function runCommand(
  command: 'backup' | 'restore',
  args: readonly string[],
  signal = new AbortController().signal,
  environment: Readonly<Record<string, string>> = {},
): Promise<Report> {
  const run = command === 'backup' ? backupCommand : restoreCommand
  return run(args, { config: readConfig({}), environment, progress: { write: () => undefined }, signal })
}
