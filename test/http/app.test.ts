import { setImmediate as nextTurn } from 'node:timers/promises'
import cors from '@koa/cors'
import { expect } from 'chai'
import { callerWith } from '../../src/access/keys/caller.ts'
import { Refusal, type RefusalCode, invalid } from '../../src/errors.ts'
import { PROBLEMS } from '../../src/http/problem.ts'
import type { Readiness } from '../../src/http/public-routes/health.ts'
import { CALLER, type Door, openDoor, TOKEN } from './door.ts'
import { rawRequest } from './raw-request.ts'

/** The token of a key that may not read. */
const WRITING = 'svc_writes'

describe('the door', () => {
  let door: Door
  let readiness: Readiness = {
    ready: true,
    artifacts: 3,
    listAge: 0,
    problems: [
      { project: 'default', repository: 'x.git', reason: 'truncated object' },
      { project: 'other', repository: 'y.git', reason: 'truncated object' },
    ],
    traces: [{ project: 'other' }],
  }

  before(async () => {
    door = await openDoor(
      (router) => {
        router.get('/who', (ctx) => (ctx.body = ctx.state['caller']))
        router.post('/who', (ctx) => (ctx.body = { url: ctx.url, query: ctx.query }))
        router.get('/refuse/:code', (ctx) => {
          throw new Refusal(ctx.params['code'] as RefusalCode, 'No, because.', {
            details: { allow: ['PUT'], a: 1 },
          })
        })
        router.get('/invalid', () => {
          throw invalid(['body', 'slug'], 'is not a slug', 'invalid_slug')
        })
        router.get('/taken', () => {
          throw new Refusal('slug_taken', 'Taken.', { conflict: { slug: 'x' } })
        })
        router.get('/bug', () => {
          throw new TypeError('the secret of the house')
        })
        router.get('/throw-nothing', () => {
          throw undefined
        })
        router.get('/disk/:code', (ctx) => {
          throw Object.assign(new Error('/very/private/path'), { code: ctx.params['code'], syscall: 'write' })
        })
      },
      {
        readiness: () => readiness,
        authenticate: (token) => {
          if (token === WRITING) return callerWith(CALLER.project, { ...CALLER.key, scopes: ['write'] })
          return token === TOKEN ? CALLER : undefined
        },
      },
    )
  })
  after(() => door.close())

  async function problem(path: string, init?: RequestInit) {
    const response = await door.fetch(path, init)
    expect(response.headers.get('content-type')).to.equal('application/problem+json')
    return { response, body: (await response.json()) as Record<string, unknown> }
  }

  describe('keys', () => {
    for (const [what, header, code] of [
      ['no header', undefined, 'missing_key'],
      ['an empty header', '', 'missing_key'],
      ['another scheme', 'Digest svc_test', 'missing_key'],
      ['a scheme without key', 'ApiKey', 'missing_key'],
      ['two keys', 'ApiKey svc_test svc_test', 'missing_key'],
      ['an unknown key', 'ApiKey svc_other', 'unknown_key'],
    ] as const) {
      // interface 3.4
      it(`answers 401 to ${what}`, async () => {
        const response = await fetch(
          `${door.url}/who`,
          header === undefined ? {} : { headers: { authorization: header } },
        )
        expect(response.status).to.equal(401)
        expect(response.headers.get('www-authenticate')).to.equal('ApiKey')
        expect(await response.json()).to.include({ code, status: 401, count: 0 })
      })
    }

    // interface 2.3
    it('lets in who has one, the scheme in any case', async () => {
      const response = await fetch(`${door.url}/who`, { headers: { authorization: 'apikey svc_test' } })
      expect(await response.json()).to.deep.equal(CALLER)
    })

    // interface 2.3
    it('asks for one before saying whether a route exists', async () => {
      expect((await fetch(`${door.url}/nowhere`)).status).to.equal(401)
    })
  })

  describe('routes', () => {
    // interface 2.1
    it('answer at the root, under /api and /preview, with and without a trailing slash', async () => {
      for (const path of [
        '/who',
        '/who/',
        '/api/who',
        '/api/who/',
        '/api/api/who',
        '/preview/who/',
        '/api/preview/who',
      ]) {
        const response = await door.fetch(path, { redirect: 'error' })
        expect(response.status, path).to.equal(200)
      }
    })

    it('keep their query string', async () => {
      const response = await door.fetch('/api/who/?a=1&b=%2Fx', { method: 'POST' })
      expect(await response.json()).to.deep.equal({ url: '/who?a=1&b=%2Fx', query: { a: '1', b: '/x' } })
    })

    it('that do not exist are 404', async () => {
      const { response, body } = await problem('/nowhere')
      expect(response.status).to.equal(404)
      expect(body).to.include({
        code: 'route_not_found',
        type: 'urn:svc:problem:route_not_found',
        status: 404,
      })
      expect(body['detail']).to.contain('GET /nowhere')
    })

    // interface 2.26
    it('that do not take the method are 405 with Allow', async () => {
      const { response, body } = await problem('/api/who/', { method: 'DELETE' })
      expect(response.status).to.equal(405)
      expect(response.headers.get('allow')).to.equal('GET, HEAD, POST')
      expect(body).to.include({ code: 'method_not_allowed', count: 0 })
    })
  })

  describe('refusals', () => {
    for (const [code, [status, title]] of Object.entries(PROBLEMS)) {
      if (code === 'internal_error') continue
      // interface 3.1
      it(`${code} is ${status}`, async () => {
        const { response, body } = await problem(`/refuse/${code}`)
        expect(response.status).to.equal(status)
        expect(body).to.deep.equal({
          type: `urn:svc:problem:${code}`,
          title,
          status,
          detail: 'No, because.',
          code,
          count: 0,
          details: { allow: ['PUT'], a: 1 },
        })
        expect(response.headers.get('retry-after')).to.equal(status === 503 || status === 429 ? '1' : null)
        expect(response.headers.get('allow')).to.equal(status === 405 ? 'PUT' : null)
      })
    }

    // interface 3.2
    it('carry the problems of fields and what they conflict with', async () => {
      const { body } = await problem('/invalid')
      expect(body['errors']).to.deep.equal([
        { loc: ['body', 'slug'], msg: 'is not a slug', type: 'invalid_slug' },
      ])
      expect((await problem('/taken')).body['conflict']).to.deep.equal({ slug: 'x' })
    })
  })

  describe('errors', () => {
    // interface 3.11
    it('of ours are 500, answered without internals and logged whole under the request id', async () => {
      const { response, body } = await problem('/bug', { headers: { 'x-request-id': 'find-me.1' } })
      expect(response.status).to.equal(500)
      expect(body).to.include({ code: 'internal_error', status: 500 })
      expect(JSON.stringify(body)).not.to.match(/secret|TypeError|\.ts|\.js/)
      expect(body['detail']).to.contain('find-me.1')
      const line = door.log().lines.find((entry) => entry['requestId'] === 'find-me.1' && 'err' in entry)
      expect(line?.['err']).to.include({ type: 'TypeError', message: 'the secret of the house' })
      expect((line?.['err'] as { stack: string }).stack).to.contain('app.test')
    })

    it('that are not even errors are 500 too', async () => {
      expect((await problem('/throw-nothing')).response.status).to.equal(500)
    })

    for (const code of ['ENOSPC', 'EIO', 'EMFILE', 'EACCES', 'EROFS', 'EDQUOT']) {
      // interface 3.10
      it(`of the disk (${code}) are 503 and name no path`, async () => {
        const { response, body } = await problem(`/disk/${code}`)
        expect(response.status).to.equal(503)
        expect(response.headers.get('retry-after')).to.equal('1')
        expect(body['code']).to.equal('storage_unavailable')
        expect(JSON.stringify(body)).not.to.contain('/very/private')
      })
    }

    it('with another code of the system are ours', async () => {
      expect((await problem('/disk/EBADF')).response.status).to.equal(500)
    })
  })

  describe('every answer', () => {
    it('carries the request id of the caller if it is sane, else a new one', async () => {
      const idFor = async (sent: string) => {
        const response = await door.fetch('/who', { headers: { 'x-request-id': sent } })
        return response.headers.get('x-request-id')
      }
      expect(await idFor('abc-1_2.3')).to.equal('abc-1_2.3')
      expect(await idFor('a b')).to.match(/^[0-9a-f]{32}$/)
      expect(await idFor('x'.repeat(129))).to.match(/^[0-9a-f]{32}$/)
      expect((await fetch(`${door.url}/nowhere`)).headers.get('x-request-id')).to.match(/^[0-9a-f]{32}$/)
    })

    it('says how long its connection is kept, unless it is not', async () => {
      for (const { headers } of [await door.fetch('/who'), await fetch(`${door.url}/nowhere`)])
        expect(headers.get('keep-alive')).to.equal('timeout=65')
      const answer = await rawRequest(
        door.url,
        'GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      )
      expect(answer)
        .to.match(/\r\nConnection: close\r\n/)
        .and.not.match(/keep-alive/i)
      const older = 'GET /nowhere HTTP/1.0\r\nHost: x\r\n'
      const kept = await rawRequest(door.url, `${older}Connection: keep-alive\r\n\r\n${older}\r\n`)
      expect(kept)
        .to.match(/^HTTP\/1\.[01] 401 [^]*HTTP\/1\.[01] 401 /)
        .and.not.match(/keep-alive: timeout/i)
    })

    it('forbids guessing its type, refusals included', async () => {
      for (const response of [await door.fetch('/who'), await fetch(door.url), await door.fetch('/bug')]) {
        expect(response.headers.get('x-content-type-options')).to.equal('nosniff')
        expect(response.headers.get('x-powered-by')).to.equal(null)
      }
    })
  })

  describe('the log', () => {
    it('has one line a request, and never a key, a query string or a body', async () => {
      await door.fetch('/api/who/?token=hush', {
        method: 'POST',
        headers: { 'x-request-id': 'log-1', 'content-type': 'application/json' },
        body: '{"password":"hush-hush"}',
      })
      await fetch(`${door.url}/who`, {
        headers: { 'x-request-id': 'log-2', authorization: 'ApiKey svc_wrong' },
      })
      // A line is written once its answer has left.
      while (!/log-1[^]*log-2|log-2[^]*log-1/.test(door.log().text)) await nextTurn()
      const { lines, text } = door.log()
      const [first, ...more] = lines.filter((line) => line['requestId'] === 'log-1')
      expect(more).to.have.length(0)
      expect(first).to.include({
        method: 'POST',
        path: '/api/who/',
        status: 200,
        keyId: CALLER.key.id,
        msg: 'request',
      })
      expect(first?.['ms']).to.be.a('number')
      expect(first?.['bytes']).to.be.greaterThan(10)
      const second = lines.find((line) => line['requestId'] === 'log-2')
      expect(second).to.include({ status: 401 }).and.not.have.property('keyId')
      expect(text).not.to.match(/svc_test|svc_wrong|hush|authorization/i)
    })

    it('has a line for a read only where it was refused', async () => {
      const reads = await openDoor((router) => {
        router.get('/read', (ctx) => {
          ctx.state['isRead'] = true
          ctx.status = Number(ctx.query['status'])
          ctx.body = 'read'
        })
      })
      try {
        for (const status of [200, 400, 404, 200, 500])
          await reads.fetch(`/read?status=${status}`, { headers: { 'x-request-id': `read-${status}` } })
        while (!reads.log().text.includes('read-500')) await nextTurn()
        const statuses = reads.log().lines.map((line) => line['status'])
        expect(statuses.filter((status) => status !== undefined)).to.have.members([400, 404, 500])
      } finally {
        await reads.close()
      }
    })
  })

  describe('without a key', () => {
    // interface 2.3
    it('/health says ok', async () => {
      const response = await fetch(`${door.url}/api/health/`)
      expect(response.status).to.equal(200)
      expect(await response.json()).to.deep.equal({ status: 'ok' })
    })

    it('/ready counts what is wrong, whatever key is no key that may read', async () => {
      const counted = { status: 'ready', artifacts: 3, problems: 3 }
      for (const authorization of [undefined, '', 'Bearer x', 'ApiKey svc_other', `ApiKey ${WRITING}`]) {
        const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
        const response = await fetch(`${door.url}/ready`, { headers })
        expect(response.status).to.equal(200)
        expect(await response.json(), authorization).to.deep.equal(counted)
      }
    })

    it('/ready names what is wrong in the project of a key that may read', async () => {
      const named = await (await door.fetch('/ready')).json()
      expect(named).to.deep.equal({
        status: 'ready',
        artifacts: 3,
        problems: 3,
        damaged: [{ project: 'default', repository: 'x.git', reason: 'truncated object' }],
      })
    })

    it('/ready is 503 while starting', async () => {
      readiness = { ready: false, artifacts: 1, listAge: 0, problems: [] }
      const starting = await fetch(`${door.url}/ready`)
      expect(starting.status).to.equal(503)
      expect(starting.headers.get('retry-after')).to.equal('1')
      expect(await starting.json()).to.deep.equal({
        status: 'starting',
        artifacts: 1,
        problems: 0,
      })
    })

    // interface 2.3
    it('/openapi.json is served', async () => {
      const response = await fetch(`${door.url}/openapi.json`)
      expect(response.headers.get('content-type')).to.contain('application/json')
      expect(await response.json()).to.include({ openapi: '3.1.0' })
    })

    it('the open routes take GET and HEAD only', async () => {
      expect((await fetch(`${door.url}/health`, { method: 'HEAD' })).status).to.equal(200)
      const response = await fetch(`${door.url}/health`, { method: 'POST' })
      expect(response.status).to.equal(405)
      expect(response.headers.get('allow')).to.equal('GET, HEAD')
    })
  })
})

describe('http: the chain of middleware', () => {
  it('takes an ordinary one of somebody else', async () => {
    const door = await openDoor(
      (router) => router.get('/x', (ctx) => (ctx.body = { answered: true })),
      {},
      cors({ origin: 'https://page.example', exposeHeaders: ['ETag'], maxAge: 600 }),
    )
    try {
      const origin = { origin: 'https://page.example' }
      const answer = await door.fetch('/x', { headers: origin })
      expect(await answer.json()).to.deep.equal({ answered: true })
      expect(answer.headers.get('access-control-allow-origin')).to.equal('https://page.example')
      expect(answer.headers.get('access-control-expose-headers')).to.equal('ETag')
      const preflight = await door.fetch('/x', {
        method: 'OPTIONS',
        headers: { ...origin, 'access-control-request-method': 'PUT' },
      })
      expect([preflight.status, preflight.headers.get('access-control-max-age')]).to.deep.equal([204, '600'])
      const refused = await door.fetch('/nowhere', { headers: origin })
      expect(refused.status).to.equal(404)
      expect(refused.headers.get('access-control-allow-origin')).to.equal('https://page.example')
    } finally {
      await door.close()
    }
  })
})
