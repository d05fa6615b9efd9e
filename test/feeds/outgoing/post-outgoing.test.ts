import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { expect } from 'chai'
import { OutgoingFailure } from '../../../src/feeds/outgoing/outgoing-failure.ts'
import { outgoingFetch } from '../../../src/feeds/outgoing/outgoing-fetch.ts'
import { type OutgoingPolicy, resolveHost } from '../../../src/feeds/outgoing/outgoing-policy.ts'
import type { OutgoingPost } from '../../../src/feeds/outgoing/post-outgoing.ts'
import { postOutgoing } from '../../../src/feeds/outgoing/post-outgoing.ts'
import type { Receiver } from '../../support/servers/receiver.ts'
import { startReceiver } from '../../support/servers/receiver.ts'

describe('outgoing requests', () => {
  let receiver: Receiver
  beforeEach(async () => (receiver = await startReceiver()))
  afterEach(() => receiver.stop())

  /** A resolver that gives these answers one after the other, the last one again and again. */
  const resolving = (...answers: readonly (readonly string[])[]) => {
    const asked: string[] = []
    const resolve = async (hostname: string): Promise<LookupAddress[]> => {
      const answer = answers[Math.min(asked.length, answers.length - 1)] ?? []
      asked.push(hostname)
      return answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    }
    return { asked, resolve }
  }
  const post = (
    url: string,
    policy: Partial<OutgoingPolicy>,
    more: Partial<OutgoingPost> = {},
  ): Promise<{ status: number; text: string } | string> =>
    postOutgoing(
      { url, headers: {}, body: '{}', timeoutMs: 20_000, maxAnswerBytes: 100, ...more },
      { allowPrivate: false, resolve: resolving([]).resolve, ...policy },
    ).catch((error: unknown) => {
      if (error instanceof OutgoingFailure) return error.message
      throw error
    })

  it('a name that leads inside is refused when the connection is made, whatever it led to before', async () => {
    const { resolve, asked } = resolving(['93.184.215.14'], ['127.0.0.1'])
    // Whoever registers a name like this shows a public address first.
    expect(await resolve('rebound.example')).to.have.length(1)
    expect(await post(`http://rebound.example:${receiver.port}/`, { resolve })).to.equal(
      'rebound.example has the address 127.0.0.1, which is not of the public internet.',
    )
    expect(asked).to.deep.equal(['rebound.example', 'rebound.example'])
    expect(receiver.received).to.have.length(0)
  })

  it('one address inside among public ones is enough to refuse the name', async () => {
    const { resolve } = resolving(['93.184.215.14', '::1'])
    expect(await post(`http://mixed.example:${receiver.port}/`, { resolve })).to.contain('::1, which is not')
    expect(receiver.received).to.have.length(0)
  })

  it('the connection goes to the address that was looked at, and the name is asked for once', async () => {
    // The second answer, which nobody is at, must never be used.
    const { resolve, asked } = resolving(['127.0.0.1'], ['192.0.2.1'])
    const answer = await post(`http://hooks.example:${receiver.port}/a`, { resolve, allowPrivate: true })
    expect(answer).to.deep.equal({ status: 204, text: '' })
    expect(asked).to.deep.equal(['hooks.example'])
    expect(receiver.received[0]?.headers.host).to.equal(`hooks.example:${receiver.port}`)
  })

  it('addresses in the URL are looked at, too, however they are written', async () => {
    for (const host of [
      '127.0.0.1',
      '127.1',
      '0x7f000001',
      '2130706433',
      '017700000001',
      '[::1]',
      '[::ffff:7f00:1]',
      'localhost',
      'a.localhost',
    ])
      expect(await post(`http://${host}:${receiver.port}/`, {}), host).to.contain(
        'does not lead to the public internet',
      )
    expect(receiver.received).to.have.length(0)
  })

  it('only http and https, and no passwords', async () => {
    expect(await post('file:///etc/passwd', { allowPrivate: true })).to.contain('not an http or https URL')
    expect(await post('gopher://hooks.example/', { allowPrivate: true })).to.contain(
      'not an http or https URL',
    )
    expect(await post(`http://me:pw@127.0.0.1:${receiver.port}/`, { allowPrivate: true })).to.contain(
      'password',
    )
  })

  it('a redirect is an answer, and is not followed', async () => {
    receiver.answerNext((response) => response.writeHead(307, { location: '/elsewhere' }).end('over there'))
    expect(await post(receiver.url, { allowPrivate: true })).to.deep.equal({
      status: 307,
      text: 'over there',
    })
    expect(receiver.received).to.have.length(1)
  })

  it('reads no more of an answer than it may, and waits no longer than it may', async () => {
    let sent = 0
    receiver.answerNext((response) => {
      response.writeHead(200)
      const pour = (): void => {
        while (response.writable && response.write('x'.repeat(1024))) sent += 1024
      }
      response.on('drain', pour).on('error', () => undefined)
      pour()
    })
    expect(await post(receiver.url, { allowPrivate: true })).to.deep.equal({
      status: 200,
      text: 'x'.repeat(100),
    })
    expect(sent).to.be.lessThan(16 * 1024 * 1024)
    receiver.answerNext((response) => response.writeHead(200).write('dripping'))
    expect(await post(receiver.url, { allowPrivate: true }, { timeoutMs: 100 })).to.equal(
      'There was no answer within 100 ms.',
    )
  })

  it('an answer that must be whole may be as long as is allowed, and no byte longer', async () => {
    receiver.answerAll((response, { url }) => response.end('x'.repeat(Number(url.slice(1)))))
    const whole = (length: number) =>
      post(`http://127.0.0.1:${receiver.port}/${length}`, { allowPrivate: true }, { mustBeWhole: true })
    expect(await whole(100)).to.deep.equal({ status: 200, text: 'x'.repeat(100) })
    expect(await whole(101)).to.equal('The answer is longer than 100 bytes.')
    expect(await whole(5_000_000)).to.equal('The answer is longer than 100 bytes.')
  })

  it('a resolver that never answers is not waited for; one that fails says so', async () => {
    const never = () => new Promise<LookupAddress[]>(() => undefined)
    expect(await post('http://slow.example/', { resolve: never }, { timeoutMs: 100 })).to.contain(
      'within 100 ms',
    )
    const fails = () =>
      Promise.reject(Object.assign(new Error('queryA ENOTFOUND gone.example'), { code: 'ENOTFOUND' }))
    expect(await post('http://gone.example/', { resolve: fails })).to.contain('ENOTFOUND')
    expect(await post('http://empty.example/', {})).to.equal('empty.example has no address.')
  })

  it('what answers no HTTP is no answer', async () => {
    const server = createTcpServer((socket) => socket.end('220 mail.example ESMTP\r\n'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo // what a server that listens on a port has
    expect(await post(`http://127.0.0.1:${port}/`, { allowPrivate: true })).to.be.a('string')
    server.close()
  })

  /** A server that says this to everybody, and then does what is asked. */
  const saying = async (words: string, then: (socket: Socket) => void = () => undefined) => {
    const server = createTcpServer((socket) => {
      socket
        .on('error', () => undefined)
        .once('data', () => {
          socket.write(words)
          then(socket)
        })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo // what a server that listens on a port has
    return { url: `http://127.0.0.1:${port}/`, stop: () => server.close() }
  }

  it('an answer that leaves HTTP is a failure at once, not a request that never ends', async () => {
    const server = await saying(
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    )
    expect(await post(server.url, { allowPrivate: true })).to.contain('leave HTTP (101)')
    const fetching = outgoingFetch({
      policy: { allowPrivate: true, resolve: resolveHost },
      maxAnswerBytes: 100,
    })
    const error: unknown = await fetching(server.url, { method: 'POST', body: '{}' }).catch(
      (it: unknown) => it,
    )
    expect(error).to.be.instanceOf(OutgoingFailure).with.property('message').that.contains('(101)')
    server.stop()
  })

  it('half a body of a length that nobody said is not taken for a whole one', async () => {
    const drips = await saying('HTTP/1.1 200 OK\r\n\r\nhalf')
    const whole = { mustBeWhole: true, timeoutMs: 200 }
    expect(await post(drips.url, { allowPrivate: true }, whole)).to.equal(
      'There was no answer within 200 ms.',
    )
    const left = post(
      drips.url,
      { allowPrivate: true },
      { signal: AbortSignal.timeout(200), mustBeWhole: true },
    )
    expect(await left).to.be.a('string')
    const fetching = outgoingFetch({
      policy: { allowPrivate: true, resolve: resolveHost },
      maxAnswerBytes: 100,
    })
    const answer = await fetching(drips.url, { method: 'POST', body: '{}', signal: AbortSignal.timeout(200) })
    expect(await answer.text().catch((it: unknown) => it)).to.have.property('name', 'TimeoutError')
    drips.stop()
    // The connection is reset, which is not how such a body ends.
    const breaks = await saying('HTTP/1.1 200 OK\r\n\r\nhalf', (socket) =>
      setTimeout(() => socket.resetAndDestroy(), 100),
    )
    expect(await post(breaks.url, { allowPrivate: true }, { mustBeWhole: true })).to.contain('ECONNRESET')
    breaks.stop()
  })
})
