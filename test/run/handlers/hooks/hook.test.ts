import { expect } from 'chai'
import { HandlerFailure } from '../../../../src/run/handlers/handler-failure.ts'
import type { HandlerContext, HandlerRequest } from '../../../../src/run/handlers/handler.ts'
import { hook } from '../../../../src/run/handlers/hooks/hook.ts'
import { ExactNumber, type Json } from '../../../../src/base/json/json.ts'
import { restsDuring } from '../../../support/rests.ts'
import { type Receiver, startReceiver } from '../../../support/servers/receiver.ts'
import { handlerContext, handlerRequest } from '../handler-context.ts'

/** So long that no busy machine makes an answer late, and so short that an answer is soon late, in milliseconds. */
const [PATIENT, HASTY] = [20_000, 300]
const SECRET = 'Bearer sk-"quoted"-0123456789'

describe('hooks', () => {
  let receiver: Receiver
  beforeEach(async () => (receiver = await startReceiver()))
  afterEach(() => receiver.stop())

  const run = async (
    data: Json,
    request: Partial<HandlerRequest> = {},
    context: HandlerContext = handlerContext({ TOKEN: SECRET }),
  ) =>
    // what every test gives is an object
    hook(PATIENT)(handlerRequest({ ...request, data: data as HandlerRequest['data'] }), context)
  const failure = async (work: Promise<unknown>): Promise<HandlerFailure> => {
    const error: unknown = await work.then(
      (value) => new Error(`no failure, but ${JSON.stringify(value)}`),
      (it: unknown) => it,
    )
    if (error instanceof HandlerFailure) return error
    throw error
  }
  const answering = (status: number, body: string) =>
    receiver.answerNext((response) => response.writeHead(status).end(body))

  // interface 11.15
  it('are posted the flat request at <url>/invoke, exactly, and answer their JSON as it is', async () => {
    answering(200, '{"outputs":{"2":1.50,"1":"é"}}')
    const outputs = await run(
      { url: `${receiver.url}//` },
      { inputs: { n: new ExactNumber('1.0') }, parameters: { p: 1 }, outputs: 'o', testcase: { id: 't' } },
    )
    expect(receiver.received[0]?.url).to.equal('/hook/invoke')
    expect(receiver.received[0]?.text).to.equal(
      '{"inputs":{"n":1.0},"parameters":{"p":1},"outputs":"o","testcase":{"id":"t"}}',
    )
    expect(JSON.stringify(outputs)).to.contain('outputs')
    answering(200, '"hi"')
    expect(await run({ url: `${receiver.url}?tenant=a/b#part` })).to.equal('hi')
    expect(receiver.received[1]?.url).to.equal('/hook/invoke?tenant=a/b')
    expect(receiver.received[1]?.body).to.deep.equal({ inputs: {}, parameters: {} })
  })

  it('whose url is mostly slashes take no longer than others', async () => {
    // the text of this length takes a minute where every slash is tried as the first of the last ones
    const error = await failure(run({ url: `${receiver.url}${'/'.repeat(200_000)}x` }))
    // Node 24 ends the connection before its answer is read.
    expect(error.message).to.match(/The hook (?:answered 431|gave no answer)/)
  })

  it('may answer text', async () => {
    answering(200, 'plain text')
    expect(await run({ url: receiver.url })).to.equal('plain text')
    answering(200, '')
    expect(await run({ url: receiver.url })).to.equal('')
  })

  // interface 11.15, 7.8
  it('are sent data.headers, secrets looked up, over ours, and where the trace goes on', async () => {
    answering(200, '1')
    const context = handlerContext({ TOKEN: SECRET })
    const headers = {
      Authorization: { secret: 'TOKEN' },
      'X-Text': 'café',
      'X-Number': 3,
      'X-Big': new ExactNumber('12345678901234567890'),
      'X-Flag': true,
      'X-None': null,
      'Content-Type': 'application/vnd.x+json',
    }
    await run({ url: receiver.url, headers }, {}, context)
    context.span.end()
    const got = receiver.received[0]?.headers
    expect(got).to.include({
      authorization: SECRET,
      'x-text': 'café',
      'x-number': '3',
      'x-big': '12345678901234567890',
      'x-flag': 'true',
      'content-type': 'application/vnd.x+json',
      host: `127.0.0.1:${receiver.port}`,
    })
    expect(got).not.to.have.property('x-none')
    const [call, root] = context.recorded
    expect(call?.parentId).to.equal(root?.spanId)
    expect(got?.['traceparent']).to.equal(`00-${root?.traceId}-${call?.spanId}-01`)
    expect(JSON.stringify(context.recorded)).not.to.contain('0123456789')
  })

  it('a secret that is not there is named, with the command that sets it', async () => {
    const missing = await failure(run({ url: receiver.url, headers: { 'X-Key': { secret: 'GONE' } } }))
    expect(missing.status).to.equal(424)
    expect(missing.id).to.equal('v0:schemas:invalid-secrets')
    expect(missing.message).to.contain("'headers.X-Key'").and.contain('secrets set GONE --project team')
    expect(receiver.received).to.have.length(0)
  })

  for (const [name, value, says] of [
    ['Content-Length', '2', 'set by the connection'],
    ['transfer-encoding', 'chunked', 'set by the connection'],
    ['HOST', 'metadata.internal', 'set by the connection'],
    ['Connection', 'upgrade', 'set by the connection'],
    ['Accept-Encoding', 'gzip', 'set by the connection'],
    ['X Y', 'a', 'not a name that HTTP allows'],
    ['X-A', 'a\r\nX-B: b', 'line break'],
    ['X-A', '☃', 'outside Latin-1'],
    ['X-A', { slug: 'my-secret' }, 'references are not resolved'],
    ['X-A', { secret: 'TOKEN', also: 1 }, 'other than {"secret": "NAME"}'],
    ['X-A', { secret: 5 }, 'other than {"secret": "NAME"}'],
    ['X-A', ['a'], 'an array'],
    ['X-A', { secret: 'BROKEN' }, 'line break'],
  ] as const) {
    it(`refuse the header ${name}: ${JSON.stringify(value)}`, async () => {
      const context = handlerContext({ TOKEN: SECRET, BROKEN: 'hidden\nvalue' })
      const bad = await failure(run({ url: receiver.url, headers: { [name]: value } }, {}, context))
      expect(bad.id).to.equal('v0:schemas:invalid-parameter')
      expect(bad.message).to.contain(`'headers.${name}'`).and.contain(says).and.not.contain('hidden')
      expect(receiver.received).to.have.length(0)
    })
  }

  for (const status of [201, 204, 302, 400, 401, 429, 500, 503]) {
    it(`that answer ${status} have failed, and the failure says so`, async () => {
      receiver.answerNext((response) => response.writeHead(status, { location: '/there' }).end('the reason'))
      const { id, status: ours, message } = await failure(run({ url: receiver.url }))
      expect(id).to.equal('v0:workflows:custom-hook-server-error')
      expect(ours).to.equal(424)
      expect(message).to.contain(`The hook answered ${status}`)
      if (status !== 204) expect(message).to.contain('the reason')
      if (status === 302) expect(message).to.contain('redirects are not followed')
      expect(receiver.received).to.have.length(1)
    })
  }

  it('that repeat a secret do not show it: not in failures, not in outputs', async () => {
    const data = { url: receiver.url, headers: { Authorization: { secret: 'TOKEN' } } }
    const echoes = [
      SECRET,
      SECRET.slice(7),
      JSON.stringify({ you: ['sent', SECRET] }),
      `is ${JSON.stringify(SECRET)}`,
    ]
    for (const echo of echoes) {
      answering(500, `no: ${echo}`)
      expect((await failure(run(data))).message)
        .to.contain('***')
        .and.not.contain('0123456789')
      answering(200, echo)
      expect(JSON.stringify(await run(data)))
        .to.contain('***')
        .and.not.contain('0123456789')
    }
    // One that is cut where a message ends is masked before it is cut.
    answering(500, `${'x'.repeat(1980)}${SECRET}`)
    expect((await failure(run(data))).message).not.to.contain('sk-')
    const short = { url: receiver.url, headers: { pin: { secret: 'PIN' } } }
    const context = () => handlerContext({ PIN: '42' })
    answering(403, 'not 42')
    expect((await failure(run(short, {}, context()))).message).to.equal('The hook answered 403: not ***')
    answering(200, '{"answer":"42"}')
    expect(await run(short, {}, context())).to.deep.equal({ answer: '42' })
  })

  it('many strings beside a secret are masked in slices, and so is a long answer read', async () => {
    const data = { url: receiver.url, headers: { Authorization: { secret: 'TOKEN' } } }
    answering(200, JSON.stringify({ many: Array.from({ length: 20_000 }, () => SECRET) }))
    expect(await restsDuring(() => run(data))).to.be.greaterThan(200)
  })

  it('are sent at most 100 headers of 128 KiB together, and no secret is read for more', async () => {
    let read = 0
    const secret = async () => `${'x'.repeat(50_000)}${read++}`
    const context = handlerContext({}, { secret })
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`x-${n}`, { secret: 'TOKEN' }]))
    const error = await failure(run({ url: receiver.url, headers: many }, {}, context))
    expect(error.message).to.contain('101 headers').and.to.contain('at most 100')
    expect(read).to.equal(0)
    const long = Object.fromEntries(Object.entries(many).slice(1))
    expect((await failure(run({ url: receiver.url, headers: long }, {}, context))).message).to.contain(
      '131072',
    )
    expect(read).to.equal(3)
    expect(receiver.received).to.have.length(0)
  })

  // interface 11.15
  it('that are silent, hang up, pour or answer nonsense have failed, within bounds', async () => {
    const clientError = async (context = handlerContext(), patience = PATIENT) => {
      const { id, status, message } = await failure(
        hook(patience)(handlerRequest({ data: { url: receiver.url } }), context) as Promise<unknown>,
      )
      expect(id).to.equal('v0:workflows:custom-hook-client-error')
      expect(status).to.equal(424)
      return message
    }
    receiver.answerNext((response) => response.socket?.destroy())
    expect(await clientError()).to.contain('The hook gave no answer that can be used.')
    receiver.answerNext((response) => {
      response.writeHead(200, { 'content-length': 100 }).write('begun')
      setTimeout(() => response.socket?.destroy(), 20)
    })
    expect(await clientError()).to.contain('no answer that can be used')
    answering(200, '{"a":1,"a":2}')
    expect(await clientError()).to.contain('cannot be kept as it is')
    const { policy } = handlerContext().outgoing
    const small = { outgoing: { policy, maxAnswerBytes: 10 } }
    answering(200, '"123456789"')
    expect(await clientError(handlerContext({}, small))).to.contain('longer than 10 bytes')
    answering(200, '"12345678"')
    expect(await run({ url: receiver.url }, {}, handlerContext({}, small))).to.equal('12345678')
    // Last, since a request that is given up may never arrive, and its answer would be the next one's.
    receiver.answerNext('silence')
    expect(await clientError(handlerContext(), HASTY)).to.contain('There was no answer within 300 ms.')
    receiver.answerNext((response) => response.writeHead(200, { 'content-length': 100 }).write('begun'))
    expect(await clientError(handlerContext(), HASTY)).to.contain('within 300 ms')
  })

  it('are given up when nobody waits any more', async () => {
    const gone = new AbortController()
    receiver.answerNext((_response) => gone.abort())
    const work = run({ url: receiver.url }, {}, handlerContext({}, { untilGone: () => gone.signal }))
    const { id, message } = await failure(work)
    expect(id).to.equal('v0:workflows:custom-hook-client-error')
    expect(message).to.contain('aborted').and.not.contain('within')
  })

  // interface 11.15
  it('are public and https, unless the configuration allows private addresses', async () => {
    const strict = (address: string) =>
      handlerContext(
        {},
        {
          outgoing: {
            policy: { allowPrivate: false, resolve: async () => [{ address, family: 4 }] },
            maxAnswerBytes: 1000,
          },
        },
      )
    const refused = async (url: string, address = '93.184.215.14') =>
      failure(run({ url }, {}, strict(address)))
    for (const [url, says] of [
      ['http://hooks.example/a', 'not an https URL'],
      [`https://127.0.0.1:${receiver.port}/`, 'public internet'],
      ['https://localhost/', 'public internet'],
      ['https://169.254.169.254/latest', 'public internet'],
      ['https://me:pw@hooks.example/', 'password'],
      ['file:///etc/passwd', 'http or https'],
    ] as const) {
      const { id, message } = await refused(url)
      expect(id, url).to.equal('v0:schemas:invalid-parameter')
      expect(message).to.contain("At 'url'").and.contain(says)
      // Only what the configuration could allow leads to it.
      const mayBeAllowed = says === 'not an https URL' || says === 'public internet'
      expect(message.includes('HOOK_ALLOW_PRIVATE=true'), url).to.equal(mayBeAllowed)
    }
    // What a name leads to is known when the connection is made.
    const inside = await refused(`https://hooks.example:${receiver.port}/`, '127.0.0.1')
    expect(inside.id).to.equal('v0:workflows:custom-hook-client-error')
    expect(inside.message).to.contain('127.0.0.1, which is not of the public internet')
    expect(receiver.received).to.have.length(0)
  })

  it('need a url', async () => {
    const without: readonly Json[] = [{}, { url: null }, { url: '' }]
    for (const data of without) expect((await failure(run(data))).id).to.equal('v0:schemas:missing-parameter')
    expect((await failure(run({ url: 5 }))).message).to.contain("Expected 'str'")
  })

  it('a call that failed is a span that failed', async () => {
    answering(500, 'down')
    const context = handlerContext()
    await failure(run({ url: receiver.url }, {}, context))
    context.span.end()
    const [call] = context.recorded
    expect(call?.statusCode).to.equal('STATUS_CODE_ERROR')
    expect(call?.exception?.type).to.equal('custom_hook_server_error')
    expect(call?.attributes).to.deep.include({
      http: { request: { method: 'POST' }, response: { status_code: 500 } },
      server: { address: '127.0.0.1' },
    })
  })
})
