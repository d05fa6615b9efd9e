import { createFirstApiKey } from '../access/keys.ts'
import { CannotStart } from '../errors.ts'
import { Store } from '../git/store.ts'
import { signingSettings } from './signing-settings.ts'
import type { StartedService, StartOptions } from './started-service.ts'
import type { SharedTraces } from '../feeds/traces.ts'
import {
  type Fs,
  type ProcessIdentity,
  identityName,
  isDead,
  parseIdentity,
  thisProcess,
} from '../storage/files.ts'

/**
 * Starts to listen; resolves when the store is loaded. Until then /ready says so, and requests wait. Rejects with `CannotStart` or a Refusal
 * if a configured file is invalid, the store cannot be opened, or the address is unavailable.
 */
export async function start(given: StartOptions): Promise<StartedService> {
  const options = await withFolder(given)
  const signing = signingSettings(options.config)
  // The rest of the program is loaded while the disk syncs what a crash has left.
  const [{ store, firstToken }, { serve }] = await Promise.all([openStore(options), import('./compose.ts')])
  const withdraw = announceServer(store.fs, store.dir)
  try {
    const service = await serve(options, { store, signing, sharedTraces: await openSpans(options) })
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
    refuseOtherHosts(fs, storeDir)
    const store = await (options.config.store === undefined
      ? Store.open(fs, storeDir)
      : followDatabase(options))
    if (store.isBroughtUp)
      log.logger.warn(
        'the store is of format 2 now, in which texts of prompts lie in files of their own: earlier versions of the server cannot open it ' +
          'any more',
      )
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

function whyNotOpened({ message }: Error, storeDir: string): string {
  return (
    `Cannot open the store ${storeDir}: ${message}. Set STORE_DIR to a folder that this user may write to, ` +
    `or see to it that this one can be read and written.`
  )
}

/** In a store: a file for each running server, named by its process. */
const SERVERS_FOLDER = '.servers'

const MS_BETWEEN_ANNOUNCEMENTS = 10_000

const MAX_SILENCE_MS = 60_000

/**
 * Throws CannotStart, with the host, if a server on another machine uses the store. SQLite files are shared through memory, so each server
 * would see the other's writes as damage. Containers of one machine count as one.
 */
function refuseOtherHosts(fs: Fs, storeDir: string): void {
  for (const { path, owner } of announced(fs, storeDir)) {
    const modified = fs.stat(path)?.modified
    if (modified === undefined || isOfThisMachine(owner) || Date.now() - modified > MAX_SILENCE_MS) continue
    throw new CannotStart(
      `A server on the host ${owner.host} (process ${owner.pid}) runs over the store ${storeDir}, and all servers of a store have to run on one host. ` +
        `Stop it there; if it has died, start again ${MAX_SILENCE_MS / 1000} seconds later, or remove ${path} now.`,
    )
  }
}

/** Announces this server to those of other hosts, until the answered function is called. */
function announceServer(fs: Fs, storeDir: string): () => void {
  if (!fs.isSeenByOthers) return () => undefined
  const folder = `${storeDir}/${SERVERS_FOLDER}`
  const name = identityName(thisProcess())
  const sweep = (): void => {
    for (const { path, owner } of announced(fs, storeDir))
      if (isDead(owner) || !isOfThisMachine(owner)) fs.remove(path)
  }
  const announce = (): void => {
    fs.makeDir(folder)
    // The rename replaces the file without a gap.
    fs.remove(`${folder}/.${name}`)
    fs.create(`${folder}/.${name}`, Buffer.alloc(0))
    fs.rename(`${folder}/.${name}`, `${folder}/${name}`)
  }
  unlessFailing(sweep)
  unlessFailing(announce)
  const timer = setInterval(() => unlessFailing(announce), MS_BETWEEN_ANNOUNCEMENTS).unref()
  return () => {
    clearInterval(timer)
    unlessFailing(() => fs.remove(`${folder}/${name}`))
  }
}

function isOfThisMachine({ host, boot }: ProcessIdentity): boolean {
  const here = thisProcess()
  // If the boot id is unknown, all machines have the same.
  return host === here.host || (boot === here.boot && boot !== '0')
}

function announced(fs: Fs, storeDir: string): { readonly path: string; readonly owner: ProcessIdentity }[] {
  const folder = `${storeDir}/${SERVERS_FOLDER}`
  return (fs.readDir(folder) ?? []).flatMap((name) => {
    const owner = parseIdentity(name)
    return owner ? [{ path: `${folder}/${name}`, owner }] : []
  })
}

/** Ignores errors of the disk, because reads may still work. */
function unlessFailing(work: () => void): void {
  try {
    work()
  } catch {
    // See above.
  }
}
