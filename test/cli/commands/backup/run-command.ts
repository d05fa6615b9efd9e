import { readConfig } from '../../../../src/config.ts'
import { runBackup } from '../../../../src/cli/commands/backup.ts'
import type { Report } from '../../../../src/cli/backup/report/backup-report.ts'
import { runRestore } from '../../../../src/cli/commands/restore.ts'

/** Runs `backup` or `restore` as the program does, without the time a process takes to start. */
export function runCommand(
  command: 'backup' | 'restore',
  args: readonly string[],
  signal = new AbortController().signal,
  environment: Readonly<Record<string, string>> = {},
): Promise<Report> {
  const run = command === 'backup' ? runBackup : runRestore
  return run(args, { config: readConfig({}), environment, progress: { write: () => undefined }, signal })
}
