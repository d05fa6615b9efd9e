import { expect } from 'chai'
import { type RunningService, startService } from '../support/servers/service.ts'
import { expectRefusal } from './conformance/surface-client.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

describe('fixed paths', () => {
  let service: RunningService
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  // interface 2.26
  it('answer 405 with Allow to every method that they do not take, also where one could read them as an id', async () => {
    const { body } = await service.get('/openapi.json')
    const fixed = Object.entries<object>(body.paths).filter(([path]) => !path.includes('{'))
    expect(fixed.length).to.be.greaterThan(100)
    for (const [path, operations] of fixed) {
      const taken = Object.keys(operations).map((it) => it.toUpperCase())
      const allow = [...taken, ...(taken.includes('GET') ? ['HEAD'] : [])].sort()
      for (const method of METHODS.filter((it) => !taken.includes(it))) {
        const reply = await service.call(method, path)
        expectRefusal(reply, 405, 'method_not_allowed', path, method)
        expect(reply.headers.get('allow'), path).to.equal(allow.join(', '))
      }
    }
  })

  it('answer HEAD where they answer GET', async () => {
    const reply = await service.call('HEAD', '/workflows/catalog/templates')
    expect(reply.status).to.equal(200)
    expect(reply.text).to.equal('')
  })

  // interface 2.1
  it('win over an artifact that has such a slug, which its id reaches', async () => {
    const made = await service.post('/workflows', { workflow: { slug: 'query' } })
    expectRefusal(await service.get('/workflows/query'), 405, 'method_not_allowed')
    expect((await service.get(`/workflows/${made.body.workflow.id}`)).body.workflow.slug).to.equal('query')
    expect((await service.post('/workflows/query')).body.count).to.equal(1)
  })
})
