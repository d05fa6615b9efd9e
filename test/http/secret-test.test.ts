import { expect } from 'chai'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Reply, type RunningService, startService } from '../support/servers/service.ts'

const KEY = 'sk-marked-0123456789'

describe('http: a test of a secret', () => {
  let service: RunningService
  let provider: Server
  let url: string
  let received: { readonly line: string; readonly headers: IncomingHttpHeaders }[]
  let react: (response: ServerResponse) => void

  const json = (status: number, body: unknown) => (response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const text = (body: string) => (response: ServerResponse) =>
    void response.writeHead(200, { 'content-type': 'text/html' }).end(body)

  before(async () => {
    provider = createServer((request, response) => {
      received.push({ line: `${request.method} ${request.url}`, headers: request.headers })
      react(response)
    })
    provider.listen(0, '127.0.0.1')
    await once(provider, 'listening')
    url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1` // what a server on a port has
    const env = { HOOK_ALLOW_PRIVATE: 'true', MODEL_TIMEOUT_MS: '400', MISTRAL_BASE_URL: url }
    service = await startService({ env })
  })
  after(async () => {
    await service.stop()
    provider.closeAllConnections()
    provider.close()
  })
  beforeEach(() => {
    received = []
    react = json(200, { object: 'list', data: [{ id: 'gpt-5' }] })
  })

  const set = async (name: string, provider?: string, base_url?: string): Promise<void> => {
    const reply = await service.put(`/secrets/${name}`, { secret: { value: KEY, provider, base_url } })
    expect(reply.status, reply.text).to.equal(200)
  }
  const test = (name: string, headers?: Record<string, string>): Promise<Reply> =>
    service.post(`/secrets/${name}/test`, {}, headers)
  const answerOf = async (name: string): Promise<{ ok: boolean; detail: string }> => {
    const { status, body, text: whole } = await test(name)
    expect(status, whole).to.equal(200)
    expect(whole).to.not.contain('marked')
    expect(Object.keys(body)).to.deep.equal(['count', 'test'])
    return body.test
  }

  // interface 14.8
  it('is one small request in the protocol of the provider, with the key, and nothing is stored', async () => {
    for (const [name, provider, path, header, value] of [
      ['GATEWAY', 'openai', '/v1/models', 'authorization', `Bearer ${KEY}`],
      ['CLAUDE', 'anthropic', '/v1/models', 'x-api-key', KEY],
      ['GOOGLE', 'gemini', '/v1/models', 'x-goog-api-key', KEY],
      ['OWN', 'house', '/v1/models', 'authorization', `Bearer ${KEY}`],
    ] as const) {
      await set(name, provider, url)
      const before = readFileSync(join(service.storeDir, 'default/secrets.json'), 'utf8')
      received = []
      expect(await answerOf(name)).to.deep.equal({ ok: true, detail: `${provider} takes the key.` })
      expect(received.map(({ line }) => line)).to.deep.equal([`GET ${path}`])
      expect(received[0]?.headers[header]).to.equal(value)
      expect(readFileSync(join(service.storeDir, 'default/secrets.json'), 'utf8')).to.equal(before)
    }
    expect((await service.post('/traces/query')).body.count).to.equal(0)
  })

  it('knows a provider by the name of its key, too, and asks at the address of the settings', async () => {
    await set('MISTRAL_API_KEY')
    expect((await answerOf('MISTRAL_API_KEY')).ok).to.equal(true)
    expect(received.map(({ line }) => line)).to.deep.equal(['GET /v1/models'])
  })

  it('says why a key is not taken, without the key', async () => {
    await set('GATEWAY', 'openai', url)
    react = json(401, { error: { message: `Incorrect API key provided: ${KEY}.` } })
    const refused = await answerOf('GATEWAY')
    expect(refused).to.deep.equal({
      ok: false,
      detail: 'openai refuses the key (401): Incorrect API key provided: ***.',
    })
    for (const [reaction, about] of [
      [json(403, { message: 'Not in this region' }), '(403): Not in this region'],
      [json(404, {}), 'answered 404'],
      [
        json(500, { detail: 'Out of order' }),
        'answered 500, so it is not known whether it takes the key: Out of order',
      ],
      [(it: ServerResponse) => void it.writeHead(302, { location: '/elsewhere' }).end(), 'answered 302'],
      [text('<html>Welcome</html>'), 'see whether http://127.0.0.1'],
      [json(200, { data: { outputs: 'ok' } }), 'no list of models'],
      [text('\0\u00ff'.repeat(1000)), 'no list of models'],
      [(it: ServerResponse) => void it.destroy(), 'openai gave no answer'],
      [(it: ServerResponse) => void it.writeHead(200).write('{"data": ['), 'did not answer within 400 ms'],
      [() => undefined, 'openai did not answer within 400 ms'],
      [text('x'.repeat(5 * 1024 * 1024)), 'openai gave no answer'],
    ] as const) {
      react = reaction
      received = []
      const { ok, detail } = await answerOf('GATEWAY')
      expect([ok, detail.includes(about)], `${about}: ${detail}`).to.deep.equal([false, true])
      expect(received).to.have.length(1)
    }
  })

  it('says what is wrong before anybody is asked', async () => {
    await set('NOWHERE', 'house')
    expect((await answerOf('NOWHERE')).detail).to.contain('store it with its base URL')
    await set('REFUSED', 'openai', 'http://127.0.0.1:1/v1')
    expect((await answerOf('REFUSED')).detail).to.contain('openai gave no answer')
    expect(received).to.deep.equal([])
  })

  it('is refused for what is no provider’s key, is not there, or without the scope admin', async () => {
    await set('HOOK_TOKEN')
    const none = await test('HOOK_TOKEN')
    expect([none.status, none.body.code]).to.deep.equal([422, 'no_provider'])
    expect(none.body.detail).to.contain('OPENAI_API_KEY').and.not.contain('marked')
    const missing = await test('NOBODY')
    expect([missing.status, missing.body.code]).to.deep.equal([404, 'secret_not_found'])
    const { key } = (await service.post('/keys', { key: { name: 'r', scopes: ['read', 'invoke'] } })).body
    const refused = await test('HOOK_TOKEN', { authorization: `ApiKey ${key.secret}` })
    expect([refused.status, refused.body.code]).to.deep.equal([403, 'missing_scope'])
    const odd = await service.post('/secrets/HOOK_TOKEN/test', { model: 'gpt-5' })
    expect([odd.status, odd.body.code]).to.deep.equal([422, 'unknown_field'])
    expect(received).to.deep.equal([])
  })

  it('reaches no private address where the settings do not allow it', async () => {
    const strict = await startService()
    try {
      const secret = { value: KEY, provider: 'openai', base_url: url }
      await strict.put('/secrets/GATEWAY', { secret })
      const { body } = await strict.post('/secrets/GATEWAY/test')
      expect(body.test.ok).to.equal(false)
      expect(body.test.detail).to.contain('openai gave no answer: The URL')
      expect(received).to.deep.equal([])
    } finally {
      await strict.stop()
    }
  })
})
