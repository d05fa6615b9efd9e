import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../../config.ts'
import { Refusal } from '../../errors.ts'
import { Store } from '../../git/store.ts'
import { nodeFs } from '../../storage/node-fs.ts'

/** A store that is open, and the folder in which its repositories are. */
export interface OpenStore {
  readonly store: Store
  readonly dir: string
  readonly name: string
  close(): Promise<void>
}

/** Opens the store that the configuration names: a folder, or a database, of which a folder becomes a copy until it is closed. */
export async function openStore({ store: database, storeDir }: Config): Promise<OpenStore> {
  if (database === undefined) {
    const dir = resolve(storeDir)
    const store = await Store.open(nodeFs, dir)
    return { store, dir, name: `the store at ${dir}`, close: () => store.close() }
  }
  const dir = mkdtempSync(join(tmpdir(), 'branchpoint-copy-'))
  const forget = (): void => rmSync(dir, { recursive: true, force: true })
  try {
    // Who has a folder does not load what a database takes.
    const { followStore, openPostgres } = await import('../../postgres/open-postgres.ts')
    const log = openPostgres({ url: database, reads: undefined, isPassing: true, warn: () => undefined })
    const store = await followStore(nodeFs, dir, log)
    // A command goes over all of it.
    await untilWhole(store).catch(async (error: unknown) => {
      await store.close().catch(() => undefined)
      throw error
    })
    const close = async (): Promise<void> => {
      try {
        await store.close()
      } finally {
        forget()
      }
    }
    return { store, dir, name: 'the store in the database', close }
  } catch (error) {
    forget()
    throw error
  }
}

/** How often it is looked how far a copy is, in milliseconds, and how often in a row something may keep it from having more. */
const LOOK_EVERY = 200
const MOST_FAILURES = 50

/** Resolves once the copy has everything; a command that nobody looks after ends where that does not go on. */
async function untilWhole({ filling }: Store): Promise<void> {
  let isWhole = filling === undefined
  void filling?.whole.then(() => (isWhole = true))
  for (let failures = 0; !isWhole; await pause(LOOK_EVERY)) {
    const problem = filling?.progress().problem
    failures = problem === undefined ? 0 : failures + 1
    if (failures > MOST_FAILURES)
      throw new Refusal('storage_unavailable', `The database cannot be copied: ${problem}`)
  }
}
