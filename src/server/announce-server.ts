import { CannotStart } from '../errors.ts'
import type { Fs } from '../storage/fs.ts'
import type { ProcessIdentity } from '../storage/process-identity.ts'
import { identityName, isDead, parseIdentity, thisProcess } from '../storage/process-identity.ts'

/** In a store: a file for each server that runs, by the name of its process. */
const SERVERS_FOLDER = '.servers'

/** How often a server says that it runs still, in milliseconds. */
const EVERY = 10_000

/** A server of another host that has not said so for so long (milliseconds) has died. */
const SILENT = 60_000

/**
 * Throws a CannotStart that names the host if a server of another machine runs over the store: SQLite's files are shared through memory, so
 * each would take the other's writes to them for damage. Containers of one machine are on one.
 */
export function refuseOtherHosts(fs: Fs, storeDir: string): void {
  for (const { path, owner } of announced(fs, storeDir)) {
    const modified = fs.stat(path)?.modified
    if (modified === undefined || isOfThisMachine(owner) || Date.now() - modified > SILENT) continue
    throw new CannotStart(
      `A server on the host ${owner.host} (process ${owner.pid}) runs over the store ${storeDir}, and all servers of a store have to run on one host. ` +
        `Stop it there; if it has died, start again ${SILENT / 1000} seconds later, or remove ${path} now.`,
    )
  }
}

/** Tells servers of other hosts that this one runs, until the function it answers is called. */
export function announceServer(fs: Fs, storeDir: string): () => void {
  if (!fs.isSeenByOthers) return () => undefined
  const folder = `${storeDir}/${SERVERS_FOLDER}`
  const name = identityName(thisProcess())
  const sweep = (): void => {
    for (const { path, owner } of announced(fs, storeDir))
      if (isDead(owner) || !isOfThisMachine(owner)) fs.remove(path)
  }
  const announce = (): void => {
    fs.makeDir(folder)
    // So that it is there at every moment.
    fs.remove(`${folder}/.${name}`)
    fs.create(`${folder}/.${name}`, Buffer.alloc(0))
    fs.rename(`${folder}/.${name}`, `${folder}/${name}`)
  }
  unlessFailing(sweep)
  unlessFailing(announce)
  const timer = setInterval(() => unlessFailing(announce), EVERY).unref()
  return () => {
    clearInterval(timer)
    unlessFailing(() => fs.remove(`${folder}/${name}`))
  }
}

function isOfThisMachine({ host, boot }: ProcessIdentity): boolean {
  const here = thisProcess()
  // Where nothing tells starts of machines apart, they all have the same.
  return host === here.host || (boot === here.boot && boot !== '0')
}

function announced(fs: Fs, storeDir: string): { readonly path: string; readonly owner: ProcessIdentity }[] {
  const folder = `${storeDir}/${SERVERS_FOLDER}`
  return (fs.readDir(folder) ?? []).flatMap((name) => {
    const owner = parseIdentity(name)
    return owner ? [{ path: `${folder}/${name}`, owner }] : []
  })
}

/** Where the disk fails or is full, or the store is gone, what can be served is served. */
function unlessFailing(work: () => void): void {
  try {
    work()
  } catch {
    // See above.
  }
}
