import { exportTestset } from '../../../../src/cli/commands/testsets.ts'
import { importTestset } from '../../../../src/cli/testsets/import-command.ts'

/** Runs a command over a store as the program does, without the time a process takes to start; answers its last line. */
export async function runCommand(
  storeDir: string,
  [command, ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const around = {
    environment: { STORE_DIR: storeDir, ...env },
    progress: { write: () => undefined },
    signal: new AbortController().signal,
  }
  return command === 'import' ? importTestset(args, around) : (await exportTestset(args, around)).line
}

/** What a process that is gone could have left of its work in a store. */
export function isLeftover(path: string): boolean {
  return /\.new-|tmp_|\.keep$|\.lock$|\.journal\/./.test(path)
}
