import { Validator } from '@seriousme/openapi-schema-validator'
import { expect } from 'chai'
import { startService } from '../../../scripts/proofs/support/service.ts'

describe('the OpenAPI document as a whole', () => {
  let text: string
  before(async () => {
    const service = await startService()
    text = (await service.get('/openapi.json')).text
    await service.stop()
  })

  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator()
    const { valid, errors } = await validator.validate(JSON.parse(text))
    expect([valid, errors]).to.deep.equal([true, undefined])
    expect(validator.version).to.equal('3.1')
  })

  it('names every tag that operations have, with a description', () => {
    const { tags, paths } = JSON.parse(text)
    for (const { description } of tags) expect(description).to.match(/\.$/)
    const used = Object.values<object>(paths).flatMap((item) =>
      Object.values(item).flatMap((operation) => operation.tags ?? []),
    )
    expect(tags.map(({ name }: { name: string }) => name)).to.have.members([...new Set(used)])
  })
})
