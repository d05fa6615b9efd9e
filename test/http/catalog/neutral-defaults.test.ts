import { expect } from 'chai'
import { git } from '../../support/git/git-program.ts'
import type { RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'

describe('an application that only says which handler it runs', () => {
  let service: RunningService
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  for (const [key, roles] of [
    ['chat', ['system']],
    ['completion', ['system', 'user']],
  ] as const) {
    it(`is committed with defaults that suit any: ${key}`, async () => {
      const data = { uri: `svc:builtin:${key}:v0` }
      const { status } = await service.post('/simple/applications', { application: { slug: key, data } })
      expect(status).to.equal(200)
      const stored = JSON.parse(git(service.repository(key), ['show', `${key}:data.json`]))
      const { default: prompt } = stored.schemas.parameters.properties.prompt
      const messages: readonly { readonly role: string; readonly content: string }[] = prompt.messages
      expect(messages.map(({ role }) => role)).to.deep.equal(roles)
      expect(messages.map(({ content }) => content)).to.deep.equal(
        ['You are a helpful assistant.', '{{input}}'].slice(0, roles.length),
      )
    })
  }
})
