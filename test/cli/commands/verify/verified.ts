import { readConfig } from '../../../../src/config.ts'
import { verifyStore } from '../../../../src/cli/commands/verify.ts'

/** What a verification of a store said. */
export interface Verified {
  readonly isSound: boolean
  /** All lines but the summary. */
  readonly lines: readonly string[]
  readonly summary: string
  /** The line of a repository of the project `default`. */
  of(repository: string): string
}

/** Runs `branchpoint verify` on a store, in this process. */
export async function verified(
  storeDir: string,
  { repair = false, secondReader = false } = {},
): Promise<Verified> {
  const lines: string[] = []
  const isSound = await verifyStore({
    config: readConfig({ STORE_DIR: storeDir }),
    project: undefined,
    repair,
    secondReader,
    progress: { write: () => undefined },
    print: (line) => lines.push(line),
  })
  const summary = lines.pop() ?? ''
  const of = (repository: string): string =>
    lines.find((line) => line.split(/\s+/)[1] === `default/${repository}`) ?? ''
  return { isSound, lines, summary, of }
}
