import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../../config.ts'
import { Refusal } from '../../errors.ts'
import { Store } from '../../git/store.ts'
import { nodeFs } from '../../storage/files.ts'

/** An open store, and the folder of its repositories. */
export interface OpenStore {
  readonly store: Store
  readonly dir: string
  readonly name: string
  close(): Promise<void>
}

/** Opens the store of the configuration. If it is a database, copies it into a temporary folder that is removed on closing. */
export async function openStore({ store: database, storeDir }: Config): Promise<OpenStore> {
  if (database === undefined) {
    const dir = resolve(storeDir)
    const store = await Store.open(nodeFs, dir)
    return { store, dir, name: `the store at ${dir}`, close: () => store.close() }
  }
  const dir = mkdtempSync(join(tmpdir(), 'branchpoint-copy-'))
  const forget = (): void => rmSync(dir, { recursive: true, force: true })
  try {
    // Loaded only here, because a store in a folder does not need the database code.
    const { followStore, openPostgres } = await import('../../cluster/cluster.ts')
    const log = openPostgres({ url: database, reads: undefined, isPassing: true, warn: () => undefined })
    const store = await followStore(nodeFs, dir, log)
    // Commands read the whole store.
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

const MS_BETWEEN_CHECKS = 200
const MAX_FAILURES_IN_A_ROW = 50

/** Resolves when the copy is complete. Throws a Refusal when it keeps failing, so that an unattended command ends. */
async function untilWhole({ filling }: Store): Promise<void> {
  let isWhole = filling === undefined
  void filling?.whole.then(() => (isWhole = true))
  for (let failures = 0; !isWhole; await pause(MS_BETWEEN_CHECKS)) {
    const problem = filling?.progress().problem
    failures = problem === undefined ? 0 : failures + 1
    if (failures > MAX_FAILURES_IN_A_ROW)
      throw new Refusal('storage_unavailable', `The database cannot be copied: ${problem}`)
  }
}
