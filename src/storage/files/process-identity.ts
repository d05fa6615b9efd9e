import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname, uptime } from 'node:os'
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'

/**
 * Who holds a lock: `<host>.<boot>.<pid>.<start>.<id>`. The random id tells the process from all others, and a lock on the file of that name
 * tells whether it lives (see liveness.ts). The rest is for people, and for holders that an earlier version named, without an id.
 */
export interface ProcessIdentity {
  readonly host: string
  /** The start of the machine: containers of one machine have the same. */
  readonly boot: string
  readonly pid: number
  readonly start: string
  readonly id?: string | undefined
}

let self: ProcessIdentity | undefined

/** This process. Where the system tells no start time (no /proc), start and boot are `0` and only the pid decides. */
export function thisProcess(): ProcessIdentity {
  // A start asks for every file that somebody left; none of it changes while we live.
  return (self ??= {
    host: hostname().replace(/[^A-Za-z0-9-]/g, '-') || 'localhost',
    boot: bootId(),
    pid: process.pid,
    start: startOf(process.pid) ?? '0',
    id: ownId(),
  })
}

const ID_OF_THREADS = 'id of this process'

/** All threads of the process have the same. */
function ownId(): string {
  const id = (getEnvironmentData(ID_OF_THREADS) as string | undefined) ?? `s${randomBytes(8).toString('hex')}` // set here only
  setEnvironmentData(ID_OF_THREADS, id)
  return id
}

/** The identity as a file name. */
export function identityName({ host, boot, pid, start, id }: ProcessIdentity): string {
  return `${host}.${boot}.${pid}.${start}${id === undefined ? '' : `.${id}`}`
}

/** The identity a file name begins with (anything that follows is the owner's own numbering). */
export function parseIdentity(name: string): ProcessIdentity | undefined {
  const match = /^([A-Za-z0-9-]+)\.([A-Za-z0-9]+)\.(\d+)\.(\d+)(?:\.(s[0-9a-f]{16}))?(?:\.|$)/.exec(name)
  if (!match) return undefined
  const [, host = '', boot = '', pid = '', start = '', id] = match
  return { host, boot, pid: Number(pid), start, id }
}

/** Whether a holder may be on this machine: of this host, or in a container beside it. */
export function isOfThisMachine({ host, boot }: ProcessIdentity): boolean {
  const here = thisProcess()
  // If the boot id is unknown, all machines have the same.
  return host === here.host || (boot === here.boot && boot !== '0')
}

/** Whether a process of this host has exactly this number and start now. */
export function isSeenRunning(owner: ProcessIdentity): boolean {
  return owner.host === thisProcess().host && owner.start !== '0' && !isGoneByNumber(owner)
}

/**
 * True only when the owner is known by its number to be gone: same host, and either another boot, no such pid, or a pid that was
 * started at another time. A process of another host is never called gone.
 */
export function isGoneByNumber(owner: ProcessIdentity): boolean {
  const { host, boot } = thisProcess()
  if (owner.host !== host) return false
  if (owner.boot !== boot) return true
  if (!isRunning(owner.pid)) return true
  const start = startOf(owner.pid)
  return start !== undefined && owner.start !== '0' && start !== owner.start
}

/** Whether a moment (milliseconds since 1970) lies before this machine was started. */
export function isBeforeBoot(moment: number): boolean {
  return moment < Date.now() - uptime() * 1000
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1')
      .replace(/[^0-9a-f]/g, '')
      .slice(0, 12)
  } catch {
    return '0'
  }
}

/** Field 22 of /proc/<pid>/stat: clock ticks from boot to the process's start (proc(5)). */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}
