import { expect } from 'chai'
import { startService } from '../../support/servers/service.ts'
import { handlersPage } from '../../../scripts/docs/handlers-page.ts'
import { handlerDefinitions } from '../../../src/run/handlers/built-in-handlers.ts'
import { handlerTable } from '../../../src/run/handlers/workflows.ts'

describe('the page on handlers', () => {
  it('has a section for every handler, with each of its settings', async () => {
    const sections = (await handlersPage()).split(/^## /m).slice(1)
    expect(sections).to.have.length(handlerDefinitions.length)
    for (const [place, { key, schemas }] of handlerDefinitions.entries()) {
      const { properties = {} } = (schemas?.parameters ?? {}) as { properties?: object }
      for (const name of [handlerTable.uriOf(key), ...Object.keys(properties)])
        expect(sections[place], key).to.contain(`\`${name}\``)
    }
  })

  it('shows examples that a server answers as the page says', async () => {
    const service = await startService()
    try {
      const sections = (await handlersPage()).split(/^## /m).slice(1)
      const withExample = handlerDefinitions.filter(({ example }) => example)
      expect(withExample.length).to.be.greaterThan(10)
      for (const { key } of withExample) {
        const section =
          sections.find((it) => it.includes(`\`${handlerTable.uriOf(key)}\``)) ?? expect.fail(key)
        const blocks = [...section.matchAll(/```json\n(.*?)```/gs)].map(([, text = '']): unknown =>
          JSON.parse(text),
        )
        const { status, body } = await service.post(`/services/${key}/v0/invoke`, blocks[0] as object)
        expect(status, key).to.equal(200)
        expect(body.data?.outputs ?? body.outputs, key).to.deep.equal(blocks[1])
      }
    } finally {
      await service.stop()
    }
  })
})
