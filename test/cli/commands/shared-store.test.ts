import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { ask, type PostgresServer, startPostgres } from '../../support/postgres/postgres.ts'
import { type RunningService, startService } from '../../support/servers/service.ts'
import { runHere } from '../command-here.ts'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'

const PROGRAM = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))

describe('the command line where servers share a database', function () {
  let postgres: PostgresServer
  let folder: string
  before(async function () {
    needsPostgres(this)
    postgres = await startPostgres()
  })
  const ownFolder = (): void => {
    folder = mkdtempSync(join(tmpdir(), 'branchpoint-shared-'))
  }
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true })
  after(() => postgres?.stop())

  const at = (name: string): string => join(folder, name)

  /**
   * Runs `branchpoint`, in the test's own folder; its input is a value. What reads one, runs on or opens a database has a process:
   * the database is told that the process is there, and that it has ended.
   */
  const branchpoint = async (given: Readonly<Record<string, string>>, ...args: string[]) => {
    const env = { ...process.env, STORE: '', STORE_DIR: '', CACHE_DIR: '', SVC_API_KEY: '', ...given }
    const isHere = given['STORE'] === undefined && args[0] !== 'serve' && args[1] !== 'set'
    if (isHere) return runHere(args, { env, cwd: folder })
    const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: folder, env })
    child.stdin.end('a value')
    const code = new Promise<number | null>((resolve) => child.once('close', resolve))
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    return { stdout, stderr, code: await code }
  }
  const serving = async (url: string): Promise<RunningService> =>
    startService({ storeDir: at('copy'), env: { STORE: url, CACHE_DIR: at('copy') } })

  describe('with the database', () => {
    beforeEach(ownFolder)
    afterEach(removeFolder)

    it('makes the first key of a database that no server has seen', async () => {
      const STORE = await postgres.database()
      const made = await branchpoint({ STORE }, 'keys', 'create', '--name', 'first', '--scopes', 'admin')
      expect(made.code, made.stderr).to.equal(0)
      const service = await serving(STORE)
      try {
        const headers = { authorization: `ApiKey ${made.stdout.trim()}` }
        expect((await service.get('/keys', headers)).status).to.equal(200)
      } finally {
        await service.stop()
      }
    })

    it('imports rows into the database, which a running server shows at once, and exports them', async () => {
      const STORE = await postgres.database()
      const service = await serving(STORE)
      try {
        writeFileSync(at('rows.csv'), 'a,b\n1,2\n3,4\n')
        const imported = await branchpoint({ STORE }, 'testsets', 'import', 'rows.csv', '--slug', 'rows')
        expect(imported.code, imported.stderr).to.equal(0)
        const shown = await service.post('/testsets/revisions/retrieve', { testset_ref: { slug: 'rows' } })
        expect(shown.status, shown.text).to.equal(200)
        expect(shown.body.testset_revision.data.testcase_ids).to.have.length(2)
        const exported = await branchpoint({ STORE }, 'testsets', 'export', 'rows', '--to', 'again.csv')
        expect(exported.code, exported.stderr).to.equal(0)
        expect(readFileSync(at('again.csv'), 'utf8')).to.contain('3,4')
        const other = await branchpoint({ STORE }, 'testsets', 'export', 'rows', '--project', 'ghosts')
        expect([other.code, other.stderr]).to.deep.equal([
          1,
          'The store in the database has no project "ghosts".\n',
        ])
        expect(existsSync(at('store'))).to.equal(false)
        const more = await branchpoint({ STORE }, 'testsets', 'import', 'rows.csv', '--slug', 'more')
        expect(more.code, more.stderr).to.equal(0)
        // The server has one, and the commands another, one after the other.
        expect(await ask(STORE, 'select from branchpoint.streams')).to.have.length(2)
      } finally {
        await service.stop()
      }
    })

    it('repacks the copy of this machine', async () => {
      const STORE = await postgres.database()
      const service = await serving(STORE)
      try {
        for (let number = 1; number <= 3; number++)
          await service.post('/simple/workflows/', {
            workflow: { slug: `w${number}`, data: { parameters: { number } } },
          })
        const done = await branchpoint({ STORE, CACHE_DIR: at('copy') }, 'maintain')
        expect([done.code, done.stderr]).to.deep.equal([0, ''])
        expect(done.stdout).to.match(/^6 repositories$/m)
        const { status } = await service.post('/workflows/revisions/retrieve', {
          workflow_ref: { slug: 'w1' },
        })
        expect(status).to.equal(200)
      } finally {
        await service.stop()
      }
    })
  })

  describe('in the copy itself, without the database', () => {
    let copy: string
    let untouched: string
    before(async () => {
      ownFolder()
      const url = await postgres.database()
      const service = await serving(url)
      await service.post('/simple/workflows/', {
        workflow: { slug: 'bot', data: { parameters: { number: 1 } } },
      })
      await service.stop({ keepStore: true })
      copy = at('copy')
      writeFileSync(at('rows.csv'), 'a,b\n1,2\n')
      const backedUp = await branchpoint({}, 'backup', '--from', url, '--to', 'backup')
      expect(backedUp.code, backedUp.stderr).to.equal(0)
      untouched = await listing()
    })
    after(removeFolder)

    /** Its files, but those of SQLite, which are derived and closed some time after the server. */
    const listing = async (): Promise<string> => {
      const found = spawn('find', [copy, '-type', 'f', '!', '-name', 'index.db*', '-printf', '%P %s %T@\n'])
      return (await text(found.stdout)).split('\n').sort().join('\n')
    }

    for (const words of [
      'serve',
      'keys create --name lost --scopes read',
      'keys list',
      'keys revoke --name me',
      'secrets set LOST',
      'secrets list',
      'open',
      'testsets import rows.csv --slug lost',
      'testsets export bot',
      'verify --repair',
      'backup --to elsewhere',
      'restore --from backup',
    ])
      it(`"${words}" changes nothing, and says what to do`, async () => {
        const { code, stderr } = await branchpoint({ STORE_DIR: copy, PORT: '0' }, ...words.split(' '))
        expect(code, stderr).to.equal(1)
        expect(stderr).to.contain(copy).and.contain('copy of a database').and.contain('Set STORE')
        expect(await listing()).to.equal(untouched)
      })
  })
})
