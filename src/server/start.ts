import { createFirstApiKey } from '../access/keys.ts'
import { CannotStart } from '../errors.ts'
import { gitProblem } from '../git/program.ts'
import { Store } from '../git/store.ts'
import { signingSettings } from './signing-settings.ts'
import type { StartedService, StartOptions } from './started-service.ts'
import type { SharedTraces } from '../feeds/traces.ts'
import { refuseOtherMachines } from '../storage/files.ts'

/**
 * Starts to listen; resolves when the store is loaded. Until then /ready says so, and requests wait. Rejects with `CannotStart` or a Refusal
 * if a configured file is invalid, the store cannot be opened, or the address is unavailable.
 */
export async function start(given: StartOptions): Promise<StartedService> {
  const options = await withFolder(given)
  const signing = signingSettings(options.config)
  // The rest of the program is loaded while the disk syncs what a crash has left.
  const [{ store, firstToken }, { serve }] = await Promise.all([openStore(options), import('./compose.ts')])
  try {
    const service = await serve(options, { store, signing, sharedTraces: await openSpans(options) })
    if (store.fs.isSeenByOthers)
      void gitProblem().then((problem) => problem !== undefined && options.log.logger.warn(problem))
    return { ...service, firstToken }
  } catch (error) {
    throw ofTheDisk(error) && error.syscall !== undefined
      ? new CannotStart(whyNotOpened(error, options.config.storeDir), { cause: error })
      : error
  }
}

/** The STORE_DIR of a server that keeps nothing. */
export const IN_MEMORY = ':memory:'

/** Sets STORE_DIR to the served folder: for a shared database its copy, for a store in memory a folder there. */
async function withFolder(given: StartOptions): Promise<StartOptions> {
  const { store, storeDir, cacheDir } = given.config
  if (store !== undefined) return { ...given, config: { ...given.config, storeDir: cacheDir } }
  return storeDir === IN_MEMORY ? inMemory(given) : given
}

/** A new, empty store in memory. Loaded only here, because other servers do not need it. */
async function inMemory(options: StartOptions): Promise<StartOptions> {
  const { memoryFs } = await import('../storage/memory-fs.ts')
  options.log.logger.warn('the store is in memory: nothing is kept when this server stops')
  return { ...options, fs: memoryFs(), config: { ...options.config, storeDir: '/memory' } }
}

async function openStore(
  options: StartOptions,
): Promise<{ readonly store: Store; readonly firstToken: string | undefined }> {
  const {
    config: { storeDir, adminKey },
    fs,
    log,
  } = options
  try {
    await refuseOtherMachines(fs, storeDir)
    const store = await (options.config.store === undefined
      ? Store.open(fs, storeDir)
      : followDatabase(options))
    if (store.isBroughtUp)
      log.logger.warn(
        'the store is of format 2 now, in which texts of prompts lie in files of their own: earlier versions of the server cannot open it ' +
          'any more',
      )
    if (store.problem !== undefined) log.logger.warn(store.problem)
    const firstKey = adminKey === undefined ? await createFirstApiKey(store.fs, storeDir) : undefined
    return { store, firstToken: firstKey?.token }
  } catch (error) {
    throw ofTheDisk(error) ? new CannotStart(whyNotOpened(error, storeDir), { cause: error }) : error
  }
}

/** Loaded only here, because servers of a folder do not need the database code. */
async function followDatabase({ config, fs, log }: StartOptions): Promise<Store> {
  const { followStore, openPostgres } = await import('../cluster/cluster.ts')
  const warn = (sentence: string): void => log.logger.warn(sentence)
  return followStore(
    fs,
    config.storeDir,
    openPostgres({ url: config.store ?? '', reads: config.reads, warn }),
  )
}

/** The spans that all servers of a database share. */
async function openSpans({ config: { store } }: StartOptions): Promise<SharedTraces | undefined> {
  if (store === undefined) return undefined
  const { openSpanTable, sharedTraces } = await import('../cluster/cluster.ts')
  return sharedTraces(openSpanTable(store))
}

function ofTheDisk(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && /^E[A-Z0-9]+$/.test((error as NodeJS.ErrnoException).code ?? '')
}

function whyNotOpened({ code, message }: NodeJS.ErrnoException, storeDir: string): string {
  const user = process.getuid?.() ?? 'of this process'
  const isForeign = code === 'EACCES' || code === 'EPERM'
  const isFull = code === 'ENOSPC' || code === 'EDQUOT'
  const remedy = isForeign
    ? `This server runs as the user ${user}: give that user the folder and all that is in it (chown -R ${user} ${storeDir}), or set STORE_DIR to a folder that it may write to`
    : isFull
      ? 'The disk is full: make room on it, or set STORE_DIR to a folder on another one'
      : code === 'EROFS'
        ? 'The disk is mounted read-only: mount it for writing, or set STORE_DIR to a folder on another one'
        : 'Set STORE_DIR to a folder that this user may write to, or see to it that this one can be read and written'
  return `Cannot open the store ${storeDir}: ${message}. ${remedy}.`
}
