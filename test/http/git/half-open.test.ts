import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { createApiKey } from '../../../src/access/keys/api-keys.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { ADMIN_KEY, startService, type RunningService } from '../../support/servers/service.ts'
import { cloneOf, newFolder, remoteOf, runGit, workflow } from '../../support/git/git-client.ts'

const AT_ONCE = 3

describe('git: clients that take their time', () => {
  let service: RunningService
  let sockets: Socket[] = []
  beforeEach(async () => {
    service = await startService({ env: { GIT_MAX_REQUESTS: String(AT_ONCE) } })
    await workflow(service, 'bot')
  })
  afterEach(async () => {
    for (const socket of sockets) socket.destroy()
    sockets = []
    await service.stop()
  })

  it('have no place before all of their request is there', async () => {
    const line = (text: string): string => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`
    const command = `${'1'.repeat(40)} ${'2'.repeat(40)} refs/heads/bot\0report-status`
    for (let count = 0; count < 2 * AT_ONCE; count++) {
      await send('git-upload-pack', 100, '')
      await send('git-upload-pack', 100, line(`want ${'1'.repeat(40)}\n`))
      await send('git-receive-pack', 100, '')
      await send('git-receive-pack', 1_000_000, `${line(command)}0000PACK${'x'.repeat(100_000)}`)
    }
    await metricIs('http_requests_in_flight', 8 * AT_ONCE + 1)
    const clone = await cloneOf(service, 'bot')
    await clone.commit('Pushed beside them')
    await clone.git('push', '-q', 'origin', 'HEAD:bot')
    await metricIs('git_requests_running', 0)
  })

  it('leave a place to other projects when they do not read what they asked for', async () => {
    const clone = await cloneOf(service, 'bot')
    for (let file = 0; file < 4; file++) clone.write(`${file}.txt`, randomBytes(3_000_000).toString('base64'))
    await clone.commit('More than the sockets between hold')
    await clone.git('push', '-q', 'origin', 'HEAD:bot')
    const want = await clone.git('rev-parse', 'HEAD')
    const body = `0032want ${want}\n00000009done\n`
    for (let count = 0; count < 2 * AT_ONCE; count++) {
      const socket = await send('git-upload-pack', body.length, body)
      socket.pause()
    }
    await metricIs('git_requests_running', AT_ONCE - 1)
    const other = { project: 'elsewhere', name: 'other', scopes: ['admin'] } as const
    const { token } = await createApiKey(nodeFs, service.storeDir, other)
    const data = { application: { slug: 'own', data: { parameters: {} } } }
    await service.post('/simple/applications/', data, { authorization: `ApiKey ${token}` })
    const cloned = await runGit(newFolder(), ['clone', '-q', remoteOf(service, 'own', 'workflows', token)])
    expect(cloned).to.include({ code: 0 })
    // the other one's request is counted until its connection has it, which git does not wait for
    await metricIs('git_requests_running', AT_ONCE - 1)
  })

  function send(what: string, length: number, body: string): Promise<Socket> {
    const head =
      `POST /git/workflows/bot.git/${what} HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey ${ADMIN_KEY}\r\n` +
      `Content-Type: application/x-${what}-request\r\nContent-Length: ${length}\r\n\r\n`
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.on('error', () => undefined)
    sockets.push(socket)
    return new Promise((resolve) => socket.write(head + body, 'latin1', () => resolve(socket)))
  }

  async function metricIs(name: string, value: number): Promise<void> {
    while ((await metric(name)) !== value) await pause(10)
  }

  async function metric(name: string): Promise<number> {
    const { text } = await service.get('/metrics')
    return Number(new RegExp(`^branchpoint_${name} (\\d+)`, 'm').exec(text)?.[1])
  }
})
