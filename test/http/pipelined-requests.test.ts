import { expect } from 'chai'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { ADMIN_KEY, type RunningService, startService } from '../support/servers/service.ts'
import { rawRequest } from './raw-request.ts'

describe('requests that are sent before the answers to those before them are there', () => {
  const LARGE = 'ä'.repeat(2_000_000)
  let service: RunningService
  before(async () => {
    service = await startService({ env: { MAX_DOCUMENT_BYTES: '4194304' } })
    for (const [slug, text] of [
      ['small', 'little'],
      ['large', LARGE],
    ] as const) {
      await service.post('/simple/applications/', { application: { slug, data: { parameters: { text } } } })
    }
  })
  after(() => service.stop())

  it('are answered in their order, each whole', async () => {
    const asked = [
      // waits for the disk, and those behind it do not
      request('/simple/applications/', { application: { slug: 'third', data: { parameters: {} } } }),
      retrieve('small'),
      request('/services/mock/v0/invoke', { data: { inputs: { n: 1 }, parameters: { key: 'echo' } } }),
      retrieve('nobody'),
      retrieve('small', 'close'),
    ]
    const answers = answersIn(await rawRequest(service.url, asked.join('')))
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 404, 200])
    expect(answers[0]?.body).to.include('"slug":"third"')
    expect(answers[1]?.body).to.include('"text":"little"')
    expect(answers[2]?.body).to.include('"n":1')
    expect(answers[4]?.body).to.include('"text":"little"')
  })

  it('are answered whole to a client that takes its time', async () => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.write(
      ['large', 'small', 'large'].map((slug) => retrieve(slug)).join('') + retrieve('small', 'close'),
    )
    await pause(100) // the sockets between are full by now
    let text = ''
    for await (const bytes of socket) text += (bytes as Buffer).toString('latin1')
    const lengths = answersIn(text).map(({ body }) => body.length > LARGE.length)
    expect(lengths).to.deep.equal([true, false, true, false])
  })

  function retrieve(slug: string, connection?: string): string {
    return request('/applications/revisions/retrieve', { application_ref: { slug } }, connection)
  }

  function request(path: string, body: object, connection = 'keep-alive'): string {
    const text = JSON.stringify(body)
    return (
      `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey ${ADMIN_KEY}\r\nConnection: ${connection}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`
    )
  }
})

/** The answers in what came over a connection, one character a byte, cut where each says that it ends. */
function answersIn(text: string): { readonly status: number; readonly body: string }[] {
  const answers = []
  for (let at = 0; at < text.length;) {
    const start = text.indexOf('\r\n\r\n', at) + 4
    const head = text.slice(at, start)
    at = start + Number(/Content-Length: (\d+)/.exec(head)?.[1])
    answers.push({ status: Number(head.slice(9, 12)), body: text.slice(start, at) })
  }
  return answers
}
