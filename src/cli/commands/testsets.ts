import type { Command, Shell } from '../command/command.ts'
import { unknownWord } from '../command/read-arguments.ts'
import { VERBS } from '../command/verbs.ts'
import { EXPORT_USAGE, exportTestset } from './testsets/export-command.ts'
import { IMPORT_USAGE, importTestset } from './testsets/import-command.ts'

const USAGE = `Files of rows into testsets, and out of them.

${IMPORT_USAGE}

${EXPORT_USAGE}`

/** The command `testsets`. */
export const testsetsCommand: Command = {
  usage: USAGE,
  usageOf: { import: IMPORT_USAGE, export: EXPORT_USAGE },
  needsWords: true,
  stopped: ([command]) => (command === 'import' ? 'Stopped; nothing was stored.' : 'Stopped.'),
  run,
}

async function run([command = '', ...args]: readonly string[], shell: Shell): Promise<number> {
  const { words } = VERBS.testsets
  if (!words.some((word) => word === command)) throw unknownWord(command, words, USAGE)
  if (command === 'import') {
    shell.print(await importTestset(args, shell))
    return 0
  }
  const { line, toStandardOutput } = await exportTestset(args, shell)
  if (toStandardOutput) process.stderr.write(`${line}\n`)
  else shell.print(line)
  return 0
}
