import { Validator } from '@seriousme/openapi-schema-validator'
import { expect } from 'chai'
import { withMembers } from '../../support/clients/api-document.ts'
import { startService } from '../../support/servers/service.ts'
import { restsDuring } from '../../support/rests.ts'

describe('the OpenAPI document as a whole', () => {
  let text: string
  let again: string
  let rests: number
  before(async () => {
    const service = await startService()
    const get = async (): Promise<string> => (await service.get('/openapi.json')).text
    rests = await restsDuring(async () => {
      ;[text, again] = (await Promise.all([get(), get()])) as [string, string]
    })
    await service.stop()
  })

  it('is made in turns, at least one for each operation, once for all who ask while it is made', () => {
    const { paths } = JSON.parse(text)
    const methods = Object.values<object>(paths).flatMap((item) => Object.keys(item))
    expect(rests).to.be.above(methods.length)
    expect(again === text).to.equal(true)
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

  it('says once what objects have in common, after which come the objects that are made of it', () => {
    const { schemas } = JSON.parse(text).components
    const before = new Set<string>()
    for (const [name, schema] of Object.entries<{ readonly allOf?: readonly { readonly $ref: string }[] }>(
      schemas,
    )) {
      for (const { $ref } of schema.allOf ?? []) expect([...before], name).to.include($ref.split('/').at(-1))
      before.add(name)
    }
    expect(schemas.ApplicationRevision.allOf).to.deep.equal([
      { $ref: '#/components/schemas/WorkflowRevision' },
    ])
    expect(schemas.WorkflowRevision.allOf).to.deep.equal([{ $ref: '#/components/schemas/RevisionFields' }])
    const { properties, required } = withMembers(JSON.parse(text)).components.schemas.ApplicationRevision
    expect(properties).to.include.keys('id', 'artifact_id', 'workflow_id', 'application_id', 'flags', 'data')
    expect(required).to.include.members(['id', 'flags', 'application_id']).and.not.include('data')
  })

  it('has the schemas of what each operation takes and answers, a refusal included', () => {
    const { paths, components } = JSON.parse(text)
    const found = (it: any) => (it?.$ref ? components.responses[it.$ref.split('/').at(-1)] : it)
    const counts: number[] = []
    for (const [path, methods] of Object.entries<any>(paths)) {
      for (const [method, { tags, requestBody, responses }] of Object.entries<any>(methods)) {
        if (tags[0] === 'service' && path !== '/metrics') continue
        const contents = [requestBody, found(responses[200]), found(responses.default)].filter(Boolean)
        for (const { content } of contents) {
          const schemas = Object.values<any>(content ?? {}).map(({ schema }) => schema)
          if (schemas.length === 0 || schemas.includes(undefined)) expect.fail(`${method} ${path}`)
        }
        counts.push(contents.length)
      }
    }
    expect(counts.length).to.be.greaterThan(250)
    expect(counts.every((count) => count >= 2)).to.equal(true)
  })
})
