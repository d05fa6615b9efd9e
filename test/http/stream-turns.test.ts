import { request } from 'node:http'
import { expect } from 'chai'
import { JsonStream } from '../../src/base/json/json-stream.ts'
import { send } from '../../src/http/routing/send.ts'
import { restsDuring } from '../support/rests.ts'
import { type Door, openDoor, TOKEN } from './door.ts'

const PIECES = 2000

describe('an answer that is a stream', () => {
  let door: Door
  let ended: (made: number) => void
  async function* pieces(count: number, size: number): AsyncGenerator<string> {
    let made = 0
    try {
      for (; made < count; made++) yield 'x'.repeat(size)
    } finally {
      ended(made)
    }
  }
  async function* quoted(): AsyncGenerator<string> {
    yield '"'
    yield* pieces(PIECES, 40_000)
    yield '"'
  }
  before(async () => {
    door = await openDoor((router) => {
      router.get('/text', (ctx) => send(ctx, { stream: pieces(PIECES, 10) }))
      router.get('/json', (ctx) => send(ctx, { body: { long: new JsonStream(quoted()) } }))
      router.get('/endless', (ctx) => send(ctx, { stream: pieces(Infinity, 10) }))
    })
    ended = () => undefined
  })
  after(() => door.close())

  for (const [path, length] of Object.entries({ '/text': PIECES * 10, '/json': PIECES * 40_000 + 11 })) {
    it(`lets others have their turn between its pieces, however quick its maker and its reader are (${path})`, async () => {
      const rests = await restsDuring(async () => {
        expect(await (await door.fetch(path)).text()).to.have.length(length)
      })
      // of JSON, the first few are one
      expect(rests).to.be.at.least(PIECES - 10)
    })
  }

  it('ends with its maker when the client goes, though it has no end of its own', async () => {
    const end = new Promise<number>((resolve) => (ended = resolve))
    const asked = request(`${door.url}/endless`, { headers: { authorization: `ApiKey ${TOKEN}` } })
    asked.on('error', () => undefined)
    asked.on('response', (answer) => {
      expect(answer.statusCode).to.equal(200)
      answer.once('data', () => asked.destroy())
    })
    asked.end()
    expect(await end).to.be.greaterThan(0)
  })
})
