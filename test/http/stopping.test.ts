import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { ADMIN_KEY } from '../support/servers/service.ts'

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url))

describe('a stop while something never ends', () => {
  let storeDir: string
  let child: ChildProcess
  let hook: Server
  let url: string
  let said: string
  beforeEach(async () => {
    storeDir = mkdtempSync(join(tmpdir(), 'branchpoint-stop-'))
    hook = createServer(() => undefined).listen(0, '127.0.0.1')
    await once(hook, 'listening')
    said = ''
  })
  afterEach(() => {
    child.kill('SIGKILL')
    hook.closeAllConnections()
    hook.close()
    rmSync(storeDir, { recursive: true, force: true })
  })

  it('ends with what it answered on the disk, and says what kept it', async () => {
    await start({ LOG_LEVEL: 'info' })
    const { port } = hook.address() as AddressInfo // of TCP it is always this
    const silent = { uri: 'svc:custom:hook:v0', url: `http://127.0.0.1:${port}` }
    const endless = {
      uri: 'svc:custom:code:v0',
      runtime: 'javascript',
      script: 'function evaluate() { for (;;); }',
    }
    await post('/simple/applications/', { application: { slug: 'silent', data: silent } })
    await post('/simple/evaluators/', { evaluator: { slug: 'endless', data: endless } })
    await post('/simple/testsets/', { testset: { slug: 'rows', data: { testcases: [{ data: { n: 1 } }] } } })
    const testcases = [1, 2, 3].map((n) => ({ data: { n, text: 'x'.repeat(4_000_000) } }))
    await post('/simple/testsets/', { testset: { slug: 'large', data: { testcases } } })
    // A hook that never answers, a client that never reads, a script and a question that never end.
    const called = once(hook, 'request')
    leave('/services/invoke', { references: { application: { slug: 'silent' } }, data: { inputs: {} } })
    await called
    leave('/services/invoke', {
      references: { evaluator: { slug: 'endless' } },
      data: { inputs: {}, outputs: {} },
    })
    leave('/testsets/revisions/retrieve', { testset_ref: { slug: 'large' } })
    await post('/services/mock/v0/invoke', {
      data: { inputs: { n: 'a'.repeat(40) }, parameters: { key: 'echo' } },
    })
    const conditions = [{ field: 'span_name', operator: 'matches', value: '(.?){4000}!' }]
    leave('/traces/query', { filtering: { conditions } })
    while (!/branchpoint_scripts_running 1/.test(await metrics())) await pause(10)
    while (!/branchpoint_http_requests_in_flight [5-9]/.test(await metrics())) await pause(10)

    child.kill('SIGTERM')
    await once(child, 'close')
    expect(said).to.match(/requests are cut off after 1000 ms: .*POST \/services\/invoke/)
    expect(said).to.match(/cut off .*POST \/testsets\/revisions\/retrieve/)
    expect(said).to.match(/"msg":"stopped/)
    await start({ LOG_LEVEL: 'info' })
    expect(await post('/testsets/query', {})).to.have.property('count', 2)
  })

  it('ends though nobody reads its log', async () => {
    await start({ LOG_LEVEL: 'debug' }, false)
    const asked = connect(Number(new URL(url).port), '127.0.0.1')
    asked.write('GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(6000))
    asked.end('GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n').resume()
    await once(asked, 'close')
    child.kill('SIGTERM')
    await once(child, 'exit')
  })

  async function start(env: Readonly<Record<string, string>>, isRead = true): Promise<void> {
    child = spawn(process.execPath, [MAIN], {
      env: {
        PATH: process.env['PATH'],
        PORT: '0',
        STORE_DIR: storeDir,
        SVC_API_KEY: ADMIN_KEY,
        HOOK_ALLOW_PRIVATE: 'true',
        SANDBOX_TIMEOUT_MS: '60000',
        TRACES_QUERY_TIMEOUT_MS: '60000',
        STOP_TIMEOUT_MS: '3000',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const { stdout } = child
    if (!stdout) throw new Error('it has no standard output')
    let text = ''
    for (let match; !match; match = /"url":"([^"]+)"/.exec(text), url = match?.[1] ?? '')
      text += String((await once(stdout, 'data'))[0])
    if (isRead) stdout.on('data', (piece: Buffer) => (said += piece.toString()))
    else stdout.pause()
  }

  async function post(path: string, body: object): Promise<object> {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(answer.status, path).to.equal(200)
    return (await answer.json()) as object
  }

  /** Asks, and never reads the answer. */
  function leave(path: string, body: object): void {
    const text = JSON.stringify(body)
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.on('error', () => undefined)
    socket.pause()
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey ${ADMIN_KEY}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${text.length}\r\n\r\n${text}`,
    )
  }

  async function metrics(): Promise<string> {
    const answer = await fetch(`${url}/metrics`, { headers: { authorization: `ApiKey ${ADMIN_KEY}` } })
    return answer.text()
  }
})
