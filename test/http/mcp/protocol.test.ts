import { expect } from 'chai'
import { ADMIN_KEY, type RunningService, startService } from '../../support/servers/service.ts'
import { connectAgent, makePrompt } from './agent.ts'

describe('the protocol of /mcp', () => {
  let service: RunningService
  before(async () => {
    service = await startService({ env: { MAX_REQUESTS: '20', MAX_BODY_BYTES: String(1024 * 1024) } })
    await makePrompt(service, 'support-bot', 'Be kind.')
  })
  after(() => service.stop())

  /** Sends a body as it is, with what a client of the protocol sends. */
  const send = async (body: string | undefined, init: RequestInit & { path?: string } = {}) => {
    const { path = '/mcp', headers = {}, ...rest } = init
    const response = await fetch(service.url + path, {
      method: 'POST',
      headers: {
        authorization: `ApiKey ${ADMIN_KEY}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
      ...rest,
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  const message = (method: string, params: object = {}, id = 1): string =>
    JSON.stringify({ jsonrpc: '2.0', id, method, params })
  const get = (name: string): string => message('tools/call', { name: 'prompts_get', arguments: { name } })

  // interface 17.1
  it('takes POST at one address, with a key, from no page of another server', async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const { status, headers } = await send(undefined, { method })
      expect([status, headers.get('allow')]).to.deep.equal([405, 'POST'])
    }
    for (const path of ['/api/mcp', '/preview/mcp']) expect((await send('{}', { path })).status).to.equal(404)
    expect((await send('{}', { headers: { authorization: '' } })).status).to.equal(401)
    expect((await send('{}', { headers: { authorization: 'Bearer svc_none' } })).status).to.equal(401)
    const foreign = await send(get('support-bot'), { headers: { origin: 'https://elsewhere.example' } })
    expect(foreign.status).to.equal(403)
    expect(foreign.text).to.contain('foreign_origin')
    const own = await send(get('support-bot'), { headers: { origin: service.url } })
    expect(own.status, own.text).to.equal(200)
  })

  it('works with the cookie of a session, from a page of this server alone', async () => {
    const signedIn = await send(JSON.stringify({ session: { key: ADMIN_KEY } }), {
      path: '/sessions',
      headers: { authorization: '' },
    })
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
    const withCookie = (origin?: string) =>
      fetch(`${service.url}/mcp`, {
        method: 'POST',
        headers: {
          cookie,
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          ...(origin ? { origin } : {}),
        },
        body: get('support-bot'),
      })
    expect((await withCookie()).status).to.equal(403)
    const own = await withCookie(service.url)
    expect(await own.text()).to.contain('Be kind.')
  })

  it('refuses nonsense with a sentence', async () => {
    for (const [body, status, said] of [
      ['nonsense', 400, 'The body: JSON line 1'],
      ['', 422, 'send a message of JSON-RPC 2.0'],
      ['[]', 422, 'a list of messages is not taken'],
      [`[${get('a')},${get('b')}]`, 422, 'a list of messages is not taken'],
      ['5', 400, 'not a valid JSON-RPC message'],
      ['{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}', 400, 'not a valid JSON-RPC message'],
      [message('tools/burn'), 200, 'Method not found'],
      [message('tools/call', { name: 7 }), 200, 'error'],
      [message('tools/call', { name: 'prompts_get', arguments: [] }), 200, 'error'],
      ['{"a": 1, "a": 2}', 422, 'a'],
    ] as const) {
      const answer = await send(body)
      expect([body, answer.status]).to.deep.equal([body, status])
      expect(answer.text).to.contain(said)
    }
    for (const [query, said] of [
      ['?tools=all', 'there is no group of tools \\"all\\"; send read, author'],
      ['?tool=read', 'there is only the parameter tools here'],
    ] as const) {
      const { status, text } = await send(get('a'), { path: `/mcp${query}` })
      expect(status).to.equal(422)
      expect(text).to.contain(said)
    }
    expect((await send(get('a'), { headers: { 'content-type': 'text/plain' } })).status).to.equal(415)
    expect((await send(get('x'.repeat(10_000_000)))).status).to.equal(413)
    expect((await send(message('notifications/initialized').replace('"id":1,', ''))).status).to.equal(202)
  })

  // interface 17.4
  it('keeps every digit and key, in arguments and in the text of a result', async () => {
    const parameters = '{"n":12345678901234567890,"__proto__":{"x":1.10},"7":1e400}'
    const commit = message('tools/call', {
      name: 'prompts_commit',
      arguments: { name: 'support-bot', message: 'Exact', data: 0 },
    })
    const sent = await send(commit.replace('"data":0', `"data":{"parameters":${parameters}}`), {
      path: '/mcp?tools=author',
    })
    expect(sent.text).to.contain('"version":2')
    const agent = await connectAgent(service)
    const said = await agent.call('prompts_get', { name: 'support-bot', fields: ['data.parameters'] })
    expect(said.text).to.equal(`{"data":{"parameters":${parameters}}}`)
    expect(said.data.data.parameters.n).to.equal(Number('12345678901234567890'))
    await agent.close()
  })

  it('serves clients of the newest protocol and of the one before alike', async () => {
    for (const [mode, version] of [
      ['legacy', '2025-11-25'],
      ['auto', '2026-07-28'],
    ] as const) {
      const agent = await connectAgent(service, { mode })
      expect(agent.client.getNegotiatedProtocolVersion()).to.equal(version)
      expect(agent.client.getServerCapabilities()).to.deep.equal({ tools: {}, prompts: {}, resources: {} })
      expect((await agent.call('prompts_get', { name: 'support-bot' })).data.artifact_slug).to.equal(
        'support-bot',
      )
      await agent.close()
    }
  })

  it('answers many calls at once, or says that it is overloaded', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => send(get('support-bot'))))
    const kinds = new Set(answers.map(({ status }) => status))
    kinds.delete(503)
    expect([...kinds]).to.deep.equal([200])
    for (const { status, text } of answers)
      expect(text).to.contain(status === 200 ? '"artifact_slug":"support-bot"' : 'overloaded')
    expect((await send(get('support-bot'))).status).to.equal(200)
  })
})
