import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { outgoingFetch } from '../../../src/feeds/outgoing/outgoing-fetch.ts'
import { OutgoingFailure } from '../../../src/feeds/outgoing/outgoing-failure.ts'
import type { OutgoingPolicy } from '../../../src/feeds/outgoing/outgoing-policy.ts'
import { type ChatStub, startChatStub, text } from '../../support/servers/chat-stub.ts'

describe('outgoing fetch', () => {
  let stub: ChatStub
  beforeEach(async () => (stub = await startChatStub()))
  afterEach(() => stub.stop())

  const resolve: OutgoingPolicy['resolve'] = async () => [{ address: '127.0.0.1', family: 4 }]
  const fetching = (allowPrivate: boolean) =>
    outgoingFetch({ policy: { allowPrivate, resolve }, maxAnswerBytes: 1000 })
  const post = (url: string, init: RequestInit = {}, allowPrivate = true) =>
    fetching(allowPrivate)(url, { method: 'POST', headers: { 'x-a': 'b' }, body: '{"é":1}', ...init })
  const failure = async (asked: Promise<unknown>): Promise<OutgoingFailure> => {
    const error: unknown = await asked.catch((it: unknown) => it)
    if (error instanceof OutgoingFailure) return error
    throw error
  }

  it('sends headers and text, and answers with status, headers and body', async () => {
    stub.answerNext((response) =>
      response.writeHead(201, 'Made', { 'x-b': ['1', '2'], 'content-type': 'text/plain' }).end('héllo'),
    )
    const answer = await post(stub.url)
    expect([answer.status, answer.statusText, answer.headers.get('x-b')]).to.deep.equal([201, 'Made', '1, 2'])
    expect(await answer.text()).to.equal('héllo')
    expect(stub.received[0]?.headers).to.include({
      'x-a': 'b',
      'accept-encoding': 'identity',
      'content-length': '8',
    })
    expect(stub.received[0]?.body).to.deep.equal({ é: 1 })
    stub.answerNext((response) => response.writeHead(204).end())
    expect((await post(stub.url)).body).to.equal(null)
  })

  it('goes nowhere the policy does not allow', async () => {
    const { port } = new URL(stub.url)
    for (const url of [stub.url, `http://inside.example:${port}/`, 'file:///etc/passwd'])
      expect((await failure(post(url, {}, false))).kind, url).to.equal('address')
    expect(stub.received).to.have.length(0)
  })

  it('answers longer than allowed, of unknown status or broken off are failures', async () => {
    stub.answerNext(text('x'.repeat(1000)), text('x'.repeat(1001)))
    expect(await (await post(stub.url)).text()).to.have.length(1000)
    expect((await failure((await post(stub.url)).text())).kind).to.equal('size')
    stub.answerNext((response) => response.writeHead(799).end())
    expect((await failure(post(stub.url))).message).to.contain('status 799')
    stub.answerNext((response) => {
      response.writeHead(200).write('x')
      setTimeout(() => response.destroy(), 20)
    })
    expect((await failure((await post(stub.url)).text())).kind).to.equal('network')
  })

  it('the signal ends it with its reason; cancelling the body ends the connection', async () => {
    const controller = new AbortController()
    const hang = (response: { write(piece: string): unknown }) => void response.write('x')
    stub.answerNext(hang, hang)
    const reading = (await post(stub.url, { signal: controller.signal })).text()
    controller.abort(new TypeError('enough'))
    expect(await reading.catch((it: unknown) => it)).to.have.property('message', 'enough')
    const reader = (await post(stub.url)).body?.getReader()
    await reader?.read()
    const waiting = reader?.read()
    await reader?.cancel()
    expect(await waiting).to.deep.equal({ done: true, value: undefined })
    while ((await stub.connections()) > 0) await pause(5)
  })
})
