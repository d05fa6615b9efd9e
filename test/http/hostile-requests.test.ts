import { expect } from 'chai'
import { type Door, TOKEN, openDoor } from './door.ts'
import { rawRequest } from './raw-request.ts'

const KEY = `Authorization: ApiKey ${TOKEN}`

describe('hostile requests', () => {
  let door: Door
  let found = 0
  before(async () => {
    door = await openDoor((router) => {
      router.all(/.*/, (ctx) => {
        if (ctx.path === '/hidden') found++
        ctx.body = 'reached'
      })
    })
  })
  after(() => door.close())
  beforeEach(() => (found = 0))

  /** A POST with these header lines and this body, and another request behind it. */
  function smuggle(lines: readonly string[], body: string): string {
    const hidden = `GET /hidden HTTP/1.1\r\nHost: x\r\n${KEY}\r\nConnection: close\r\n\r\n`
    return [`POST /x HTTP/1.1`, 'Host: x', KEY, ...lines, '', body].join('\r\n') + hidden
  }

  const AMBIGUOUS: readonly (readonly [what: string, lines: readonly string[], body: string])[] = [
    ['two kinds of length', ['Content-Length: 4', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
    ['two lengths', ['Content-Length: 2', 'Content-Length: 3'], '{}'],
    ['one length, twice', ['Content-Length: 2', 'Content-Length: 2'], '{}'],
    ['a list of lengths', ['Content-Length: 2, 2'], '{}'],
    ['a length below nothing', ['Content-Length: -2'], '{}'],
    ['a length that is no number', ['Content-Length: 0x2'], '{}'],
    ['an encoding that nobody knows', ['Transfer-Encoding: xchunked'], '0\r\n\r\n'],
    ['an encoding after chunked', ['Transfer-Encoding: chunked, identity'], '0\r\n\r\n'],
    ['two encodings', ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], '0\r\n\r\n'],
    ['a space before the colon', ['Transfer-Encoding : chunked'], '0\r\n\r\n'],
    ['a header that goes on in the next line', ['X-A: a', ' Transfer-Encoding: chunked'], '0\r\n\r\n'],
  ]

  for (const [what, lines, body] of AMBIGUOUS) {
    it(`refuses ${what} and reads no further`, async () => {
      const answer = await rawRequest(door.url, smuggle(lines, body))
      expect(answer).to.match(/^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n/)
      expect(found).to.equal(0)
    })
  }

  it('refuses chunks that are none, and ends the connection', async () => {
    await rawRequest(door.url, smuggle(['Transfer-Encoding: chunked'], 'ZZ\r\n{}\r\n0\r\n\r\n'))
    expect(found).to.equal(0)
  })

  it('refuses headers and addresses past 16 KB', async () => {
    const long = 'a'.repeat(17_000)
    for (const request of [`GET /?${long} HTTP/1.1\r\nHost: x`, `GET / HTTP/1.1\r\nHost: x\r\nX: ${long}`])
      expect(await rawRequest(door.url, `${request}\r\n\r\n`)).to.match(/^HTTP\/1\.1 431 /)
  })

  it('refuses a request without a host, a NUL and a bare line feed', async () => {
    for (const request of [
      'GET / HTTP/1.1\r\n\r\n',
      'GET /a\0b HTTP/1.1\r\nHost: x\r\n\r\n',
      'GET / HTTP/1.1\nHost: x\n\n',
    ])
      expect(await rawRequest(door.url, request)).to.match(/^HTTP\/1\.1 400 /)
  })

  it('leaves the key out of the log when a request cannot be read', async () => {
    await rawRequest(door.url, smuggle(['Transfer-Encoding: xchunked'], '0\r\n\r\n'))
    await rawRequest(door.url, smuggle(['Transfer-Encoding: chunked'], 'ZZ\r\n'))
    const { lines, text } = door.log()
    expect(lines.some(({ msg }) => msg === 'an answer could not be sent')).to.equal(true)
    expect(text)
      .not.to.contain(TOKEN)
      .and.not.contain([...Buffer.from(TOKEN)].join(','))
  })

  it('lets no page of another origin read an answer, and says nothing of the software', async () => {
    const asks = { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST' }
    for (const method of ['GET', 'OPTIONS', 'POST']) {
      const { headers } = await door.fetch('/x', { method, headers: asks })
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).to.deep.equal([])
      expect(headers.get('x-powered-by') ?? headers.get('server')).to.equal(null)
      expect(headers.get('x-content-type-options')).to.equal('nosniff')
    }
  })
})
