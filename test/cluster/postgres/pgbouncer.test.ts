import { expect } from 'chai'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ask, freePort, type PostgresServer, startPostgres } from '../../support/postgres/postgres.ts'
import { pgbouncerProgram, postgresUser } from '../../support/postgres/postgres-programs.ts'
import { type RunningService, startService } from '../../support/servers/service.ts'
import { needsPgbouncer } from '../../support/postgres/needs-postgres.ts'

describe('postgres: PgBouncer before the database', function () {
  let postgres: PostgresServer
  let bouncer: Bouncer | undefined
  const services: RunningService[] = []

  before(async function () {
    needsPgbouncer(this)
    postgres = await startPostgres()
  })
  afterEach(async () => {
    for (const service of services.splice(0)) await service.stop()
    await bouncer?.stop()
    bouncer = undefined
  })
  after(() => postgres?.stop())

  const through = async (mode: string, size: number): Promise<string> => {
    const url = new URL(await postgres.database())
    bouncer = await startBouncer(postgres, mode, size)
    url.port = `${bouncer.port}`
    return url.href
  }
  const server = async (url: string): Promise<RunningService> => {
    const folder = mkdtempSync(join(tmpdir(), 'branchpoint-copy-'))
    const service = await startService({ storeDir: folder, env: { STORE: url, CACHE_DIR: folder } })
    services.push(service)
    return service
  }

  it('in session mode is as the database itself: two servers see what the other has acknowledged', async () => {
    const url = await through('session', 40)
    const [here, there] = [await server(url), await server(url)]
    const data = { parameters: { number: 1 } }
    const made = await here.post('/simple/workflows/', { workflow: { slug: 'bot', data } })
    expect(made.status, made.text).to.equal(200)
    for (let version = 2; version < 10; version++) {
      const [one, other] = version % 2 ? [here, there] : [there, here]
      const commit = await one.post('/workflows/revisions/commit', {
        workflow_revision_commit: { workflow_variant_id: made.body.workflow.variant_id, data },
      })
      expect(commit.status, commit.text).to.equal(200)
      const found = await other.post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'bot' } })
      expect(found.body.workflow_revision.version).to.equal(version)
    }
  })

  for (const [mode, size] of [
    ['transaction', 40],
    ['transaction', 1],
    ['statement', 40],
  ] as const)
    it(`in ${mode} mode with ${size} connections is refused at the start, with what to change`, async () => {
      const url = await through(mode, size)
      const refused = await server(url).then(
        () => 'it started',
        (error: Error) => error.message,
      )
      expect(refused).to.match(/set pool_mode = session/)
    })
})

interface Bouncer {
  readonly port: number
  stop(): Promise<void>
}

/** Starts PgBouncer before a server, with so many connections for a user of a database. */
async function startBouncer(postgres: PostgresServer, mode: string, size: number): Promise<Bouncer> {
  const program = pgbouncerProgram()
  if (program === undefined)
    throw new Error('There is no PgBouncer here. Install it (apt-get install pgbouncer).')
  const folder = mkdtempSync(join(tmpdir(), 'branchpoint-bouncer-'))
  const port = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(join(folder, 'users'), '"bp" ""\n')
  writeFileSync(
    file,
    `[databases]
* = host=127.0.0.1 port=${postgres.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users')}
pool_mode = ${mode}
default_pool_size = ${size}
`,
  )
  if ('uid' in postgresUser) execFileSync('chown', ['-R', `${postgresUser.uid}:${postgresUser.gid}`, folder])
  const child: ChildProcess = spawn(program, [file], { stdio: 'ignore', cwd: folder, ...postgresUser })
  const end = (): boolean => child.kill('SIGKILL')
  process.once('exit', end)
  const over = once(child, 'exit')
  for (let attempt = 1; ; attempt++) {
    try {
      await ask(`postgres://bp@127.0.0.1:${port}/postgres`, 'select 1')
      break
    } catch (error) {
      if (child.exitCode !== null || attempt === 300) throw error
      await pause(50)
    }
  }
  return {
    port,
    stop: async () => {
      process.off('exit', end)
      end()
      await over
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
