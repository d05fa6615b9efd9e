import { expect } from 'chai'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { RequestsInside } from '../../../src/http/mcp/rest.ts'

describe('requests of tools from within the server', () => {
  it('end with the call that they are made for, so that nothing is worked out for a client that has gone', async () => {
    let arrived: (response: ServerResponse) => void = () => undefined
    const begun = new Promise<ServerResponse>((resolve) => (arrived = resolve))
    const inside = new RequestsInside(async (_, response) => arrived(response))
    const stop = new AbortController()
    const answered = inside
      .as({}, 'request')('POST', '/services/invoke', '{}', stop.signal)
      .catch((error) => error)
    const response = await begun
    const closed = once(response, 'close')
    stop.abort()
    await closed
    expect(await answered).to.have.property('name', 'AbortError')
  })

  it('leave no connection behind once they are answered', async () => {
    let socket: ServerResponse['socket'] = null
    const inside = new RequestsInside(async (_, response) => {
      socket = response.socket
      response.end('{}')
    })
    const { signal } = new AbortController()
    expect(await inside.as({}, 'request')('GET', '/', undefined, signal)).to.deep.equal({
      status: 200,
      text: '{}',
    })
    const { destroyed } = socket ?? expect.fail()
    if (!destroyed) await once(socket ?? expect.fail(), 'close')
  })
})
