import { createFirstApiKey } from '../access/api-keys.ts'
import { CannotStart } from '../errors.ts'
import { Store } from '../git/store.ts'
import { announceServer, refuseOtherHosts } from './announce-server.ts'
import { signingSettings } from './signing-settings.ts'
import type { StartedService, StartOptions } from './started-service.ts'

/**
 * Listens, and resolves once the store is read in; until then /ready says so and requests wait. Rejects with `CannotStart` or a
 * refusal when a file that the configuration names is bad, the store cannot be opened or the address cannot be had.
 */
export async function start(given: StartOptions): Promise<StartedService> {
  const options = given.config.storeDir === IN_MEMORY ? await inMemory(given) : given
  const signing = signingSettings(options.config)
  // The processor loads the rest of the program while the disk syncs what a crash has left.
  const [{ store, firstToken }, { serve }] = await Promise.all([openStore(options), import('./compose.ts')])
  const withdraw = announceServer(store.fs, store.dir)
  try {
    const service = await serve(options, { store, signing })
    const close = async (): Promise<readonly string[]> => {
      withdraw()
      return service.close()
    }
    return { ...service, close, firstToken }
  } catch (error) {
    withdraw()
    throw ofTheDisk(error) && error.syscall !== undefined
      ? new CannotStart(whyNotOpened(error, options.config.storeDir), { cause: error })
      : error
  }
}

/** The STORE_DIR of a server that keeps nothing. */
const IN_MEMORY = ':memory:'

/** A new, empty store in memory in place of a folder. Other servers do not load what it takes. */
async function inMemory(options: StartOptions): Promise<StartOptions> {
  const { memoryFs } = await import('../storage/memory-fs.ts')
  options.log.logger.warn('the store is in memory: nothing is kept when this server stops')
  return { ...options, fs: memoryFs(), config: { ...options.config, storeDir: '/memory' } }
}

async function openStore({
  config: { storeDir, adminKey },
  fs,
  log,
}: StartOptions): Promise<{ readonly store: Store; readonly firstToken: string | undefined }> {
  try {
    refuseOtherHosts(fs, storeDir)
    const store = await Store.open(fs, storeDir)
    if (store.isBroughtUp)
      log.logger.warn(
        'the store is of format 2 now, in which texts of prompts lie in files of their own: earlier versions of the server cannot open it ' +
          'any more',
      )
    const firstKey = adminKey === undefined ? await createFirstApiKey(fs, storeDir) : undefined
    return { store, firstToken: firstKey?.token }
  } catch (error) {
    throw ofTheDisk(error) ? new CannotStart(whyNotOpened(error, storeDir), { cause: error }) : error
  }
}

function ofTheDisk(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && /^E[A-Z0-9]+$/.test((error as NodeJS.ErrnoException).code ?? '')
}

function whyNotOpened({ message }: Error, storeDir: string): string {
  return (
    `Cannot open the store ${storeDir}: ${message}. Set STORE_DIR to a folder that this user may write to, ` +
    `or see to it that this one can be read and written.`
  )
}
