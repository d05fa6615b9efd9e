import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { postgresPrograms, postgresUser } from './postgres-programs.ts'

/** A PostgreSQL server that runs until it is stopped, or this process ends. */
export interface PostgresServer {
  readonly port: number
  readonly folder: string
  /** The URL of a database of it. */
  url(database: string): string
  /** Makes an empty database, and answers its URL. */
  database(): Promise<string>
  /** What its processes have worked so far, in seconds of a processor. Linux only. */
  processorSeconds(): number
  /** Ends it as if the machine had: with SIGKILL for all of its processes. */
  kill(): Promise<void>
  /** Stops all of its processes where they are, or has them go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void
  /** Ends it and leaves its folder. */
  halt(): Promise<void>
  /** Starts it over its folder, with these settings from now on if any are given. */
  again(settings?: readonly string[]): Promise<void>
  stop(): Promise<void>
}

/** What is set of a server beside what it is by itself, a line each. */
const SETTINGS = [
  "listen_addresses = '127.0.0.1'",
  "unix_socket_directories = ''",
  'max_connections = 200',
  'shared_buffers = 32MB',
  'wal_level = replica',
  'max_wal_senders = 4',
  "log_min_messages = 'fatal'",
  // In the server's folder, which goes with it: in /dev/shm it would stay behind where the server is killed.
  "dynamic_shared_memory_type = 'mmap'",
]

/** Starts a server on a free port, over a new folder that goes with it. */
export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  const programs = postgresPrograms()
  if (programs === undefined)
    throw new Error('There is no PostgreSQL here. Install it (apt-get install postgresql).')
  const folder = newFolder()
  execFileSync('cp', ['-a', join(freshData(programs), 'data'), folder])
  const server = serverIn(programs, folder, await freePort())
  await server.again(settings)
  return server
}

/** A primary that waits for its standby, and the standby. */
export interface PostgresPair {
  readonly primary: PostgresServer
  readonly standby: PostgresServer
  /** The URL of a database, with both hosts. */
  url(database: string): string
  /** Makes the standby a primary that waits for nobody. */
  promote(): Promise<void>
  /** Resolves once the standby has everything that the primary has. */
  caughtUp(): Promise<void>
  stop(): Promise<void>
}

/** Starts a pair. */
export async function startPair(): Promise<PostgresPair> {
  const primary = await startPostgres()
  await primary.halt()
  const folder = newFolder()
  // PostgreSQL starts only on a folder with the mode 0700, which cpSync of Node 22 does not keep.
  execFileSync('cp', ['-a', join(primary.folder, 'data'), folder])
  writeFileSync(join(folder, 'data', 'standby.signal'), '')
  own(folder)
  const standby = serverIn(postgresPrograms() ?? '', folder, await freePort())
  await primary.again()
  await standby.again([
    'wal_retrieve_retry_interval = 200ms',
    `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=bp application_name=standby'`,
  ])
  await primary.halt()
  await primary.again(["synchronous_standby_names = 'standby'"])
  return {
    primary,
    standby,
    url: (database) => `postgres://bp@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/${database}`,
    promote: async () => {
      await ask(standby.url('postgres'), 'select pg_promote()')
    },
    caughtUp: async () => {
      const [at] = await ask<{ lsn: string }>(primary.url('postgres'), 'select pg_current_wal_lsn() as lsn')
      const question = `select coalesce(pg_last_wal_replay_lsn() >= '${at?.lsn}', false) as has`
      while (!(await ask<{ has: boolean }>(standby.url('postgres'), question))[0]?.has) await pause(50)
    },
    stop: async () => {
      await standby.stop()
      await primary.stop()
    },
  }
}

function newFolder(prefix = join(tmpdir(), 'branchpoint-postgres-')): string {
  const folder = mkdtempSync(prefix)
  own(folder)
  return folder
}

/**
 * A folder with the data of a server that never ran. To make it takes as long as many tests, so it is made once on this machine for each
 * user and build of the program, and copied. It is made aside and moved into place whole: another process may want it meanwhile.
 */
function freshData(programs: string): string {
  const initdb = join(programs, 'initdb')
  const { size, mtimeMs } = statSync(initdb)
  const place = join(tmpdir(), `branchpoint-initdb-${process.getuid?.() ?? 0}-${size}-${Math.trunc(mtimeMs)}`)
  if (existsSync(place)) return place
  const aside = newFolder(`${place}-`)
  const options = ['-U', 'bp', '--auth=trust', '-E', 'UTF8', '--locale=C', '--no-sync']
  execFileSync(initdb, ['-D', join(aside, 'data'), ...options], {
    stdio: 'ignore',
    cwd: aside,
    ...postgresUser,
  })
  try {
    renameSync(aside, place)
  } catch (error) {
    rmSync(aside, { recursive: true, force: true })
    // Another process was first.
    if (!existsSync(place)) throw error
  }
  return place
}

/** Gives a folder to the user that PostgreSQL runs as. */
function own(folder: string): void {
  if ('uid' in postgresUser) execFileSync('chown', ['-R', `${postgresUser.uid}:${postgresUser.gid}`, folder])
}

function serverIn(programs: string, folder: string, port: number): PostgresServer {
  const url = (database: string): string => `postgres://bp@127.0.0.1:${port}/${database}`
  let child: ChildProcess | undefined
  let isStopped = false
  const goOn = (): void => signalAll(folder, 'SIGCONT')
  const halt = async (): Promise<void> => {
    // What is stopped does not end.
    if (isStopped) goOn()
    child?.stdin?.end()
    if (child) await ended(child)
  }
  return {
    port,
    folder,
    url,
    database: async () => {
      const name = `test_${randomBytes(6).toString('hex')}`
      await ask(url('postgres'), `create database ${name}`)
      return url(name)
    },
    processorSeconds: () => workOf(postmasterIn(folder)),
    kill: async () => {
      signalAll(folder, 'SIGKILL')
      await halt()
    },
    signal: (signal) => {
      process.off('exit', goOn)
      isStopped = signal === 'SIGSTOP'
      if (isStopped) process.once('exit', goOn)
      signalAll(folder, signal)
    },
    halt,
    again: async (settings) => {
      const path = join(folder, 'data', 'postgresql.auto.conf')
      if (settings) writeFileSync(path, [...SETTINGS, `port = ${port}`, ...settings, ''].join('\n'))
      child = await run(programs, folder, url('postgres'))
    },
    stop: async () => {
      await halt()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Ends the server when its own input ends, so that none is left behind where this process is killed. */
const GUARD =
  'exec 3<&0; "$0" -D "$1" >>"$2" 2>&1 3<&- & P=$!; { cat <&3 >/dev/null; kill -INT $P; } & G=$!; wait $P; kill $G 2>/dev/null'

async function run(programs: string, folder: string, url: string): Promise<ChildProcess> {
  const args = [join(programs, 'postgres'), join(folder, 'data'), join(folder, 'log')]
  const child = spawn('/bin/sh', ['-c', GUARD, ...args], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // A signal that ends this process and all of its group must not keep it from ending the server.
    detached: true,
    cwd: folder,
    ...postgresUser,
  })
  for (let attempt = 1; ; attempt++) {
    try {
      await ask(url, 'select 1')
      return child
    } catch (error) {
      if (child.exitCode !== null || attempt === 300) throw error
      await pause(50)
    }
  }
}

/** Asks a database something, by a connection of its own. */
export async function ask<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

function postmasterIn(folder: string): number {
  return Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0])
}

/** What a process, its children that run and those that have ended have worked, in seconds: Linux counts hundredths. */
function workOf(postmaster: number): number {
  const ofPostmaster = statOf(postmaster)?.slice(11, 15) ?? []
  const ofChildren = childrenOf(postmaster).flatMap((pid) => statOf(pid)?.slice(11, 13) ?? [])
  return [...ofPostmaster, ...ofChildren].reduce((sum, ticks) => sum + Number(ticks) / 100, 0)
}

/** As Linux tells it; elsewhere they end by themselves a moment later. */
function childrenOf(parent: number): number[] {
  if (!existsSync('/proc/self/stat')) return []
  const pids = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name))
  return pids.map(Number).filter((pid) => parentOf(pid) === parent)
}

function parentOf(pid: number): number | undefined {
  const parent = statOf(pid)?.[1]
  return parent === undefined ? undefined : Number(parent)
}

/** What proc(5) says of a process from its third field on. */
function statOf(pid: number): readonly string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined // it has just ended
  }
}

/** Also to what is made until the postmaster has it; its children are no more its once it has ended. */
function signalAll(folder: string, signal: NodeJS.Signals): void {
  const postmaster = postmasterIn(folder)
  const children = childrenOf(postmaster)
  signalIfThere(postmaster, signal)
  for (const pid of new Set([...children, ...childrenOf(postmaster)])) signalIfThere(pid, signal)
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // it has just ended
  }
}

/** A port of this machine that nobody listens at. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port is free')
  return address.port
}
