import { readFileSync } from 'node:fs'
import { hostname, uptime } from 'node:os'

/**
 * Who holds a lock: `<host>.<boot>.<pid>.<start>`, a name that no other process of this host ever had or will have.
 * A pid alone is not enough: it is reused, and after a restart it may be ours.
 */
export interface ProcessIdentity {
  readonly host: string
  readonly boot: string
  readonly pid: number
  readonly start: string
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
  })
}

/** The identity as a file name. */
export function identityName(identity: ProcessIdentity): string {
  return `${identity.host}.${identity.boot}.${identity.pid}.${identity.start}`
}

/** The identity a file name begins with (anything after a fifth dot-part is the owner's own numbering). */
export function parseIdentity(name: string): ProcessIdentity | undefined {
  const match = /^([A-Za-z0-9-]+)\.([A-Za-z0-9]+)\.(\d+)\.(\d+)(?:\.|$)/.exec(name)
  if (!match) return undefined
  const [, host = '', boot = '', pid = '', start = ''] = match
  return { host, boot, pid: Number(pid), start }
}

/**
 * True only when the owner is known to be gone: same host, and either another boot, no such pid, or a pid that was
 * started at another time. A process of another host is never called dead.
 */
export function isDead(owner: ProcessIdentity): boolean {
  const { host, boot } = thisProcess()
  if (owner.host !== host) return false
  if (owner.boot !== boot) return true
  if (!isRunning(owner.pid)) return true
  const start = startOf(owner.pid)
  return start !== undefined && owner.start !== '0' && start !== owner.start
}

/** The same of a process that this start of the machine has seen alive. */
export function isDeadSinceBoot(owner: ProcessIdentity): boolean {
  return owner.boot === thisProcess().boot && isDead(owner)
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
