import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { COMMAND } from '../../../src/command-name.ts'
import { ADMIN_KEY, type RunningService, startService } from '../../support/servers/service.ts'
import { Browser } from '../../support/clients/browser.ts'
import { runHere } from '../command-here.ts'
import { makeEmptyStore } from '../empty-store.ts'

const PROGRAM = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))

const CI = ['--scopes', 'read,write', '--expires', '2100-01-01'] as const

describe('where a command works', () => {
  let service: RunningService
  let folder: string
  before(async () => (service = await startService()))
  after(() => service.stop())
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'place-'))))
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  /** Runs `branchpoint` in an empty folder; its input is a value: only who reads one needs a process, whose input it is. */
  async function branchpoint(given: Readonly<Record<string, string>>, ...args: string[]) {
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, ...given }
    if (args[1] !== 'set') return runHere(args, { env, cwd: folder })
    const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: folder, env })
    child.stdin.end('a value')
    const code = new Promise<number | null>((resolve) => child.once('close', resolve))
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    return { stdout, stderr, code: await code }
  }
  const server = () => ({ BRANCHPOINT_URL: service.url, BRANCHPOINT_KEY: ADMIN_KEY })

  it('is the server of BRANCHPOINT_URL, for keys, secrets and links, and no store is made', async () => {
    const made = await branchpoint(server(), 'keys', 'create', '--name', 'ci', ...CI)
    expect(made.stderr).to.contain(`Made a key of the project "default" at ${service.url}.`)
    const headers = { authorization: `ApiKey ${made.stdout.trim()}` }
    expect((await service.get('/projects/current', headers)).status).to.equal(200)
    expect((await branchpoint(server(), 'keys', 'list')).stdout).to.match(
      /LAST USED[^]*ci@branchpoint\.local[^]*until 2100-01-01/,
    )
    const revoked = await branchpoint(server(), 'keys', 'revoke', '--name', 'ci')
    expect(revoked.stdout).to.match(/^Revoked "ci" .* at http:\/\//)
    expect((await service.get('/projects/current', headers)).status).to.equal(401)

    const set = await branchpoint(server(), 'secrets', 'set', 'TOKEN', '--provider', 'openai')
    expect(set.stdout).to.equal(`Set TOKEN in project "default" at ${service.url}.\n`)
    expect((await branchpoint(server(), 'secrets', 'list')).stdout).to.match(/TOKEN +openai/)
    const { secrets } = (await service.get('/secrets')).body
    expect(secrets).to.have.length(1).and.have.nested.property('[0].name', 'TOKEN')
    await branchpoint(server(), 'secrets', 'remove', 'TOKEN')
    expect((await service.get('/secrets')).body.secrets).to.deep.equal([])
    const gone = await branchpoint(server(), 'secrets', 'remove', 'TOKEN')
    expect([gone.code, gone.stderr]).to.deep.equal([1, 'The project has no secret "TOKEN". It has none.\n'])
    expect(readdirSync(folder)).to.deep.equal([])
  })

  it('is the server for a link, which so is good there, also for a key that no store holds', async () => {
    const { stdout, stderr } = await branchpoint(server(), 'open') // with SVC_API_KEY, as the server was started with
    expect(stdout).to.match(new RegExp(`^${service.url}/signin#token=\\S+\\n$`))
    expect(stderr).to.contain(`at ${service.url}`)
    const token = stdout.trim().split('token=')[1]
    const answer = await new Browser(service.url).post('/sessions', { session: { token } })
    expect(answer.body.session.principal.id).to.equal('key:admin')
  })

  it('is the server for files of rows, in and out, with every option', async () => {
    const rows = join(folder, 'rows.csv')
    writeFileSync(rows, 'city;n\nOslo;1\nOslo;1\nLima;2\n')
    const run = (...args: string[]) => branchpoint(server(), 'testsets', ...args)
    const made = await run(
      'import',
      rows,
      '--slug',
      'cities',
      '--infer',
      '--name',
      'Cities',
      '--message',
      'First',
    )
    expect(made.stderr).to.equal('')
    expect(made.stdout).to.match(
      new RegExp(
        `^Created cities at ${service.url}: version 1, 2 rows, revision [0-9a-f-]{36}, .*\\n {2}1 equal rows collapsed\\n$`,
      ),
    )
    const { testset_revision: stored } = (
      await service.post('/testsets/revisions/retrieve', { testset_ref: { slug: 'cities' } })
    ).body
    expect(stored.message).to.equal('First')
    expect(stored.data.testcases[0].data).to.include({ city: 'Oslo', n: 1 })

    const same = await run('import', rows, '--slug', 'cities', '--infer', '--if-changed')
    expect(same.stdout).to.match(/^Nothing changed in cities at .*: version 1, 2 rows/)
    writeFileSync(rows, 'city,n\nOslo,5\n')
    const next = await run('import', rows, '--slug', 'cities', '--message', 'Fewer')
    expect(next.stdout).to.match(/^Committed to cities at .*: version 2, 1 row,/)

    const out = join(folder, 'out.csv')
    const exported = await run('export', 'cities', '--version', '1', '--to', out)
    expect(exported.stdout).to.match(/^Exported cities at .*: version 1, 2 rows/)
    expect(readFileSync(out, 'utf8')).to.match(/^city,n,[^]*Oslo,1,[^]*Lima,2,/)
    const printed = await run('export', 'cities', '--type', 'jsonl')
    expect(JSON.parse(printed.stdout)).to.include({ city: 'Oslo', n: '5' })
    expect((await run('export', 'citis')).code).to.equal(1)
    writeFileSync(rows, '')
    const empty = await run('import', rows, '--slug', 'cities')
    expect(empty.code).to.equal(1)
    expect(readdirSync(folder).sort()).to.deep.equal(['out.csv', 'rows.csv'])
  })

  it('is a server that stores nothing of an upload that Ctrl-C ends, or that breaks off', async () => {
    let arrived: (() => void) | undefined
    const sockets = new Set<Socket>()
    // Between the command and the server, to see that much of the upload is under way.
    const between = createServer((socket) => {
      const upstream = connect(Number(new URL(service.url).port), '127.0.0.1')
      let bytes = 0
      socket.on('data', (piece) => {
        bytes += piece.length
        if (bytes > 100_000) arrived?.()
      })
      for (const it of [socket, upstream]) sockets.add(it.on('error', () => undefined))
      socket.pipe(upstream).pipe(socket)
    }).listen(0, '127.0.0.1')
    await once(between, 'listening')
    const url = `http://127.0.0.1:${(between.address() as AddressInfo).port}`
    /** Begins an upload that does not end, and answers when the server has some of it. */
    const begin = async (slug: string) => {
      const env = {
        PATH: process.env['PATH'] ?? '',
        BRANCHPOINT_URL: url,
        BRANCHPOINT_KEY: ADMIN_KEY,
        HOME: folder,
      }
      const words = ['testsets', 'import', '-', '--slug', slug, '--type', 'csv']
      const child = spawn(process.execPath, [PROGRAM, ...words], { cwd: folder, env })
      child.stdin.on('error', () => undefined).write(`a\n${'1\n'.repeat(200_000)}`)
      const code = new Promise<number | null>((resolve) => child.once('close', resolve))
      const ended = Promise.all([text(child.stderr), text(child.stdout), code])
      await new Promise<void>((resolve) => (arrived = resolve))
      return { child, ended }
    }
    try {
      const stopped = await begin('stopped')
      stopped.child.kill('SIGINT')
      expect(await stopped.ended).to.deep.equal(['Stopped; nothing was stored.\n', '', 130])
      const broken = await begin('broken')
      for (const socket of sockets) socket.destroy()
      const [stderr, stdout, code] = await broken.ended
      expect([code, stdout, stderr.slice(0, 20)]).to.deep.equal([128, '', 'No server answers at'])
    } finally {
      between.close()
    }
    const refs = { testset_refs: [{ slug: 'stopped' }, { slug: 'broken' }] }
    expect((await service.post('/testsets/query', refs)).body.count).to.equal(0)
  })

  it('is what comes first of --store, --url, BRANCHPOINT_URL and the store of the settings', async () => {
    for (const name of ['one', 'two']) await makeEmptyStore(join(folder, name))
    const listed = async (env: Readonly<Record<string, string>>, ...args: string[]) =>
      (await branchpoint({ BRANCHPOINT_KEY: ADMIN_KEY, ...env }, 'secrets', 'list', ...args)).stdout
    const [one, two] = [join(folder, 'one'), join(folder, 'two')]
    const nowhere = { BRANCHPOINT_URL: 'http://127.0.0.1:9', STORE_DIR: two }
    expect(await listed(nowhere, '--store', one, '--url', service.url)).to.contain(`in the store ${one}`)
    expect(await listed(nowhere, '--url', service.url, '--key', ADMIN_KEY)).to.contain(`at ${service.url}`)
    expect(await listed({ STORE_DIR: two }, '--url', service.url)).to.contain(`at ${service.url}`)
    expect(await listed({ ...nowhere, BRANCHPOINT_URL: service.url })).to.contain(`at ${service.url}`)
    expect(await listed({ STORE_DIR: two })).to.contain(`in the store ${two}`)
    await makeEmptyStore(join(folder, 'store'))
    expect(await listed({})).to.contain('in the store ./store')
  })

  it('of another address than BRANCHPOINT_URL gets its own key, never BRANCHPOINT_KEY', async () => {
    const home = { HOME: folder, XDG_CONFIG_HOME: join(folder, 'config') }
    const env = { ...home, BRANCHPOINT_URL: 'http://127.0.0.1:9', BRANCHPOINT_KEY: 'svc_of_another' }
    for (const words of [['secrets', 'list'], ['list'], ['search', 'x']]) {
      const { code, stderr, stdout } = await branchpoint(env, ...words, '--url', service.url)
      expect([code, stdout], stderr).to.deep.equal([2, ''])
      expect(stderr).to.contain('BRANCHPOINT_KEY is the key of BRANCHPOINT_URL (http://127.0.0.1:9)')
      expect(stderr)
        .to.contain('--key')
        .and.contain(`${COMMAND} login ${service.url}`)
        .and.contain('unset BRANCHPOINT_URL')
    }
    // The same server, by another path of its address.
    const same = { ...env, BRANCHPOINT_URL: `${service.url}/`, BRANCHPOINT_KEY: ADMIN_KEY }
    expect((await branchpoint(same, 'secrets', 'list', '--url', `${service.url}/api`)).code).to.equal(0)
    const login = await branchpoint({ ...home }, 'login', service.url, '--key', ADMIN_KEY)
    expect(login.code, login.stderr).to.equal(0)
    expect((await branchpoint(env, 'secrets', 'list', '--url', service.url)).stdout).to.contain(
      `at ${service.url}`,
    )
  })

  it('is a store that is there: a mistyped one is refused, and not made', async () => {
    writeFileSync(join(folder, 'rows.csv'), 'a\n1\n')
    for (const words of [
      'keys create --name a --scopes read',
      'keys list',
      'secrets set A',
      'open',
      'testsets import rows.csv --slug a',
      'testsets export a',
      'maintain',
      'verify',
      'backup --to b',
    ]) {
      const { code, stderr, stdout } = await branchpoint({ STORE_DIR: 'stroe' }, ...words.split(' '))
      expect([code, stdout], words).to.deep.equal([1, ''])
      expect(stderr, words).to.match(/^There is no store at .*stroe[;.]/)
    }
    expect(existsSync(join(folder, 'stroe'))).to.equal(false)
  })

  it('is no server because of a variable, for what works on folders', async () => {
    for (const words of ['verify', 'maintain', 'backup --to b']) {
      const { code, stderr } = await branchpoint(server(), ...words.split(' '))
      expect([code, stderr.slice(0, 20)], words).to.deep.equal([1, 'There is no store at'])
    }
  })

  it('is the project of the key at a server: another one is refused, and the refusal names --store', async () => {
    const { code, stderr } = await branchpoint(server(), 'secrets', 'list', '--project', 'team')
    expect(code).to.equal(1)
    expect(stderr).to.contain('of the project "default"').and.contain('--store DIR')
    const read = await branchpoint(server(), 'list', '--project', 'team')
    expect([read.code, read.stdout, read.stderr]).to.deep.equal([1, '', stderr])
    expect((await branchpoint(server(), 'list', '--project', 'default')).code).to.equal(0)
  })

  it('is refused without a key, and where no server answers', async () => {
    const keyless = await branchpoint({ BRANCHPOINT_URL: service.url }, 'keys', 'list')
    expect([keyless.code, keyless.stderr.split('\n')[0]]).to.deep.equal([
      2,
      `--key is missing (or BRANCHPOINT_KEY). To store a key for ${service.url}: ${COMMAND} login ${service.url}`,
    ])
    const silent = await branchpoint({ BRANCHPOINT_KEY: 'x' }, 'keys', 'list', '--url', 'http://127.0.0.1:9')
    expect([silent.code, silent.stderr.slice(0, 40)]).to.deep.equal([
      128,
      'No server answers at http://127.0.0.1:9:',
    ])
  })
})

describe('POST /sessions/links', () => {
  let service: RunningService
  before(async () => (service = await startService()))
  after(() => service.stop())
  const keyWith = async (name: string, ...scopes: string[]): Promise<{ id: string; secret: string }> =>
    (await service.post('/keys', { key: { name, scopes } })).body.key
  const as = (secret: string) => ({ authorization: `ApiKey ${secret}` })
  const signIn = (url: string) =>
    new Browser(service.url).post('/sessions', { session: { token: url.split('token=')[1] } })

  it('makes a link for the own key of any caller, good once', async () => {
    const { id, secret } = await keyWith('reader', 'read')
    const { status, body, headers } = await service.post('/sessions/links', {}, as(secret))
    expect([status, body.count]).to.deep.equal([200, 1])
    expect(headers.get('cache-control')).to.equal('no-store')
    expect(Date.parse(body.link.until) - Date.now()).to.be.within(10 * 60_000, 15 * 60_000)
    expect(body.link.url).to.match(new RegExp(`^${service.url}/signin#token=default\\.`))
    expect((await signIn(body.link.url)).body.session.principal.id).to.equal(`key:${id}`)
    expect((await signIn(body.link.url)).status).to.equal(401)
  })

  it('makes one for another key with the scope admin alone, and for live keys alone', async () => {
    const reader = await keyWith('other', 'read')
    const writer = await keyWith('writer', 'read', 'write')
    const forReader = { link: { key: reader.id } }
    const refused = await service.post('/sessions/links', forReader, as(writer.secret))
    expect([refused.status, refused.body.code]).to.deep.equal([403, 'missing_scope'])
    const { body } = await service.post('/sessions/links', forReader)
    expect((await signIn(body.link.url)).body.session.scopes).to.deep.equal(['read'])
    await service.call('DELETE', `/keys/${reader.id}`)
    const gone = await service.post('/sessions/links', forReader)
    expect([gone.status, gone.body.code]).to.deep.equal([404, 'key_not_found'])
    const unknown = await service.post('/sessions/links', { link: { kye: reader.id } })
    expect([unknown.status, unknown.body.code]).to.deep.equal([422, 'unknown_field'])
  })

  it('keeps twenty unused links of each key: who makes more ends the own oldest, and nobody else’s', async () => {
    const [one, other] = [await keyWith('one', 'read'), await keyWith('greedy', 'read')]
    const linkOf = async ({ secret }: { readonly secret: string }): Promise<string> =>
      (await service.post('/sessions/links', {}, as(secret))).body.link.url
    const kept = await linkOf(one)
    const made: string[] = []
    for (let number = 0; number < 21; number++) made.push(await linkOf(other))
    expect((await signIn(kept)).body.session.principal.id).to.equal(`key:${one.id}`)
    const [first = '', second = ''] = made
    expect([(await signIn(first)).status, (await signIn(second)).status]).to.deep.equal([401, 200])
  })
})
