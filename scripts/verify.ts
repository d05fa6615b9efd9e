import { parseArgs } from 'node:util'
import { ConfigError, readConfig } from '../src/config.ts'
import { Refusal } from '../src/errors.ts'
import { UsageError } from './command/usage-error.ts'
import { verifyCommand } from './verify/verify-command.ts'

const USAGE = `Reads every object of every repository and says what is wrong. Servers may run on the store meanwhile.

  npm run verify -- [--store DIR] [--project NAME] [--repair] [--second-reader]

  --store    the folder of the store; STORE_DIR (./store unless set) unless given
  --project  only this project; all of them unless given
  --repair   puts in order what is derived (mirror refs, refs that a crash cut off, derived files, leftovers of dead
             processes) and says each thing it did; real damage stays, with what to do about it
  --second-reader
             reads refs, commits, notes and a sample of rows through isomorphic-git as well, and names every difference

One line a repository: ok, repaired, stale (--repair can put it in order) or damaged. Exit code 1 if anything is stale or
damaged. As at every start of a server, what a dead one left in its journal is finished first.`

try {
  process.exitCode = (await run(process.argv.slice(2))) ? 0 : 1
} catch (error) {
  const isExpected = error instanceof Refusal || error instanceof ConfigError || error instanceof UsageError
  if (!isExpected) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

async function run(args: readonly string[]): Promise<boolean> {
  const options = readArguments(args)
  const { store, project, repair = false, help = false } = options
  const print = (line: string): void => void process.stdout.write(`${line}\n`)
  if (help) {
    print(USAGE)
    return true
  }
  const config = readConfig(process.env)
  return verifyCommand({
    config: { ...config, storeDir: store ?? config.storeDir },
    project,
    repair,
    secondReader: options['second-reader'] ?? false,
    progress: process.stderr,
    print,
  })
}

function readArguments(args: readonly string[]) {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  try {
    const options = {
      store: text,
      project: text,
      repair: flag,
      'second-reader': flag,
      help: { ...flag, short: 'h' },
    }
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    throw new UsageError((error as Error).message, USAGE) // parseArgs throws nothing but TypeErrors that say what is wrong
  }
}
