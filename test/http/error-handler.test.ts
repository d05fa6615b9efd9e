import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import Koa from 'koa'
import { pino } from 'pino'
import { callerWith } from '../../src/access/keys/caller.ts'
import { DatabaseAway } from '../../src/errors.ts'
import { completed } from '../../src/http/app.ts'
import type { RequestState } from '../../src/http/request.ts'

describe('http: what is answered where the database is away', () => {
  it('names its address to nobody without a key', async () => {
    const app = new Koa<RequestState>()
    app.use(completed({ log: pino({ level: 'silent' }), storeProblem: () => undefined }))
    app.use((ctx) => {
      if (ctx.get('authorization') !== '')
        ctx.state.caller = callerWith('default', { id: 'k', name: 'k', email: 'k@x', scopes: ['read'] })
      throw new DatabaseAway('connect ECONNREFUSED 10.1.2.3:5432', false)
    })
    const server = createServer((request, response) => void app.callback()(request, response)).listen(0)
    await once(server, 'listening')
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
      const answered = async (headers: Record<string, string>) => {
        const response = await fetch(url, { headers })
        return [response.status, ((await response.json()) as { readonly detail: string }).detail]
      }
      const rest = 'Nothing was stored; try again in a moment.'
      expect(await answered({})).to.deep.equal([503, `The database is away. ${rest}`])
      expect(await answered({ authorization: 'x' })).to.deep.equal([
        503,
        `The database is away (connect ECONNREFUSED 10.1.2.3:5432). ${rest}`,
      ])
    } finally {
      server.close()
    }
  })
})
