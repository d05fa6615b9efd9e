import { expect } from 'chai'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { dropServicesUrl, presentWorkflow } from '../../../src/registry/workflows/workflow-data.ts'

const servicesBase = 'http://127.0.0.1:3000/services'
const context = { servicesBase, revisionId: '0f3c9a1b-e2d4-8abc-b123-7d41c0aa93fe' }

describe('workflow url', () => {
  for (const [uri, path] of [
    ['svc:builtin:completion:v0', 'completion/v0'],
    ['completion', 'completion/v0'],
    ['svc:custom:hook:v0', 'hook/v0'],
    ['svc:builtin:chat:v9', 'chat/v9'],
    ['svc:builtin:chat:a/b', 'chat/a%2Fb'],
  ] as const) {
    it(`of ${uri} is bound to the revision`, () => {
      const data = { uri, parameters: {} }
      const url = `${servicesBase}/${path}/${context.revisionId}`
      expect(presentWorkflow(data, context)).to.deep.equal({ ...data, url })
    })
  }

  for (const data of [
    { uri: 'svc:builtin:skill:v0' },
    { uri: 'user:custom:fn:v1' },
    { uri: 'https://example.org/x' },
    { parameters: {} },
    { uri: 5 },
  ] as readonly JsonObject[]) {
    it(`is not given to ${JSON.stringify(data)}`, () => {
      expect(presentWorkflow(data, context)).to.equal(data)
    })
  }

  it('of elsewhere is shown as stored', () => {
    const data = { uri: 'svc:custom:hook:v0', url: 'https://example.org/hook' }
    expect(presentWorkflow(data, context)).to.equal(data)
  })

  it('of another revision, pushed with git, is replaced by its own', () => {
    const data = { url: `${servicesBase}/chat/v0/other`, uri: 'chat' }
    expect(presentWorkflow(data, context)).to.have.property(
      'url',
      `${servicesBase}/chat/v0/${context.revisionId}`,
    )
  })

  for (const [url, dropped] of [
    [servicesBase, true],
    [`${servicesBase}/`, true],
    [`${servicesBase}/completion/v0/x?y#z`, true],
    ['HTTP://127.0.0.1:3000/services/chat/v0', true],
    [`${servicesBase}/../elsewhere`, false],
    ['http://127.0.0.1:3000/services2/chat', false],
    ['http://127.0.0.1:3001/services/chat', false],
    ['https://127.0.0.1:3000/services/chat', false],
    ['http://127.0.0.1:3000.example.org/services/chat', false],
    ['http://example.org/?u=http://127.0.0.1:3000/services/chat', false],
  ] as const) {
    it(`${url} is ${dropped ? 'dropped' : 'kept'} by a write`, () => {
      const data: JsonObject = { uri: 'chat', url }
      expect(dropServicesUrl(data, servicesBase)).to.deep.equal(dropped ? { uri: 'chat' } : data)
    })
  }
})
