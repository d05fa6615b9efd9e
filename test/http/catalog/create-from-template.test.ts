import { expect } from 'chai'
import { git } from '../../support/git/git-program.ts'
import type { RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'

describe('creating from a template', () => {
  let service: RunningService
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  const create = async (path: string, singular: string, fields: object) => {
    const { status, text, body } = await service.post(path, { [singular]: fields })
    expect(status, text).to.equal(200)
    return body[singular]
  }

  // interface 7.15
  it('makes artifact, variant and version 1 of a preset’s values, in one call', async () => {
    const made = await create('/simple/evaluators/', 'evaluator', {
      slug: 'begins',
      name: 'Begins well',
      template: 'auto_regex_test',
      preset: 'starts_with',
    })
    expect(made.data.uri).to.equal('svc:builtin:auto_regex_test:v0')
    expect(made.data.parameters).to.deep.equal({
      regex_pattern: '^PREFIX_PLACEHOLDER',
      regex_should_match: true,
    })
    expect(made.data.schemas).to.have.keys('parameters', 'outputs')
    expect(made.data.url).to.match(/\/services\/auto_regex_test\/v0\//)
    expect(made.flags).to.include({ is_evaluator: true, is_application: false, is_managed: true })
    const { body } = await service.post('/evaluators/revisions/log', { evaluator: { evaluator_id: made.id } })
    expect(body.evaluator_revisions).to.have.length(1)
    expect(body.evaluator_revisions[0]).to.include({
      version: 1,
      id: made.revision_id,
      message: 'Begin with template auto_regex_test, preset starts_with',
    })
  })

  it('does the same on the structured routes, which answer the artifact', async () => {
    const made = await create('/workflows/', 'workflow', { slug: 'judge', template: 'auto_ai_critique' })
    expect(made).to.not.have.any.keys('data', 'template', 'preset')
    expect(made.flags).to.deep.equal({ is_application: false, is_evaluator: true, is_snippet: false })
    const { body } = await service.post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'judge' } })
    const { version, data } = body.workflow_revision
    expect(version).to.equal(1)
    const template = await service.get('/workflows/catalog/templates/auto_ai_critique')
    expect(data.parameters).to.deep.equal(template.body.template.parameters)
    // Of the judge's form, as for any commit of such parameters.
    expect(data.schemas.outputs).to.deep.equal(data.parameters.json_schema.schema)
  })

  it('is readable with plain git', async () => {
    await create('/applications', 'application', { slug: 'capital', template: 'completion' })
    const repository = service.repository('capital')
    expect(git(repository, ['rev-list', '--count', 'capital']).trim()).to.equal('1')
    const data = JSON.parse(git(repository, ['show', 'capital:data.json']))
    expect(Object.keys(data)).to.deep.equal(['@svc.format', 'uri', 'parameters', 'schemas'])
    expect(data.parameters.prompt.messages).to.have.length(2)
    expect(git(repository, ['show', 'capital:prompt/user.md'])).to.include('{{')
    expect(git(repository, ['log', '-1', '--format=%s', 'capital']).trim()).to.equal(
      'Begin with template completion',
    )
  })

  it('works for every template and every preset', async () => {
    const { body } = await service.get('/workflows/catalog/templates?include_archived=true')
    for (const { key } of body.templates) {
      const { body } = await service.get(`/workflows/catalog/templates/${key}`)
      for (const preset of [undefined, ...body.template.presets.map((it: { key: string }) => it.key)]) {
        const from =
          preset === undefined
            ? body.template
            : body.template.presets.find((it: { key: string }) => it.key === preset)
        const { data, flags } = await create('/simple/workflows', 'workflow', { template: key, preset })
        expect(data.uri, key).to.equal(from.uri)
        expect(data.parameters, `${key} ${preset}`).to.deep.equal(from.parameters)
        const { is_application, is_evaluator } = body.template.flags
        expect(flags, key).to.include({ is_application, is_evaluator, is_snippet: false })
      }
    }
  })

  // interface 7.15
  it('lays data of the simple form over the template’s: single parameters and schemas, and other members', async () => {
    const inputs = { type: 'object', properties: { correct_answer: { type: 'string' } } }
    const made = await create('/simple/evaluators', 'evaluator', {
      template: 'auto_regex_test',
      preset: 'contains',
      data: { parameters: { regex_pattern: 'refund', case_sensitive: false }, schemas: { inputs } },
      message: 'Mentions refunds',
    })
    expect(made.data.parameters).to.deep.equal({
      regex_pattern: 'refund',
      regex_should_match: true,
      case_sensitive: false,
    })
    expect(made.data.schemas).to.have.keys('inputs', 'parameters', 'outputs')
    expect(made.data.schemas.inputs).to.deep.equal(inputs)
    const revision = await service.get(`/evaluators/revisions/${made.revision_id}`)
    expect(revision.body.evaluator_revision.message).to.equal('Mentions refunds')

    const feedback = await create('/simple/evaluators', 'evaluator', {
      template: 'feedback',
      preset: 'quality-rating',
      data: { schemas: { inputs } },
    })
    expect(feedback.data.schemas).to.have.keys('outputs', 'inputs')
    expect(feedback.data.schemas.outputs.required).to.deep.equal(['approved'])

    const hook = await create('/simple/applications', 'application', {
      template: 'hook',
      data: { uri: 'svc:custom:hook:v0', url: 'https://example.org/bot' },
    })
    expect(hook.data.url).to.equal('https://example.org/bot')
  })

  it('gives the roles of the request, else of the surface, else of the template', async () => {
    const roles = async (path: string, singular: string, fields: object) => {
      const { flags } = await create(path, singular, fields)
      return [flags.is_application, flags.is_evaluator, flags.is_snippet]
    }
    expect(await roles('/workflows', 'workflow', { template: 'code' })).to.deep.equal([true, true, false])
    expect(await roles('/evaluators', 'evaluator', { template: 'code' })).to.deep.equal([false, true, false])
    expect(await roles('/simple/applications', 'application', { template: 'code' })).to.deep.equal([
      true,
      false,
      false,
    ])
    const flags = { is_evaluator: true }
    expect(await roles('/workflows', 'workflow', { template: 'code', flags })).to.deep.equal([
      false,
      true,
      false,
    ])
    expect(await roles('/simple/applications', 'application', { template: 'code', flags })).to.deep.equal([
      true,
      true,
      false,
    ])
  })

  const refused: readonly [
    name: string,
    path: string,
    singular: string,
    fields: object,
    loc: string,
    said: RegExp,
  ][] = [
    [
      'an unknown template',
      '/workflows',
      'workflow',
      { template: 'nope' },
      'template',
      /"nope" is not a template; .* feedback, hook, code/,
    ],
    [
      'an unknown preset',
      '/simple/workflows',
      'workflow',
      { template: 'auto_regex_test', preset: 'nope' },
      'preset',
      /its presets are starts_with, ends_with/,
    ],
    [
      'a preset of a template that has none',
      '/workflows',
      'workflow',
      { template: 'echo', preset: 'nope' },
      'preset',
      /it has none/,
    ],
    [
      'a preset without a template',
      '/evaluators',
      'evaluator',
      { preset: 'hallucination' },
      'template',
      /send the template's key/,
    ],
    [
      'an evaluator’s template for an application',
      '/applications',
      'application',
      { template: 'auto_exact_match' },
      'template',
      /is not for applications; .* chat, completion/,
    ],
    [
      'an application’s template for an evaluator',
      '/simple/evaluators',
      'evaluator',
      { template: 'chat' },
      'template',
      /is not for evaluators/,
    ],
    ['a key that is no text', '/workflows', 'workflow', { template: 7 }, 'template', /expected string/],
    [
      'another handler than the template’s',
      '/simple/workflows',
      'workflow',
      { template: 'chat', data: { uri: 'svc:builtin:echo:v0' } },
      'data.uri',
      /leave one of them out/,
    ],
    [
      'data with what data does not have',
      '/simple/workflows',
      'workflow',
      { template: 'chat', data: { prompt: {} } },
      'data.prompt',
      /not a key of data/,
    ],
    [
      'data that is no object',
      '/simple/workflows',
      'workflow',
      { template: 'chat', data: [1] },
      'data',
      /must be an object/,
    ],
  ]
  for (const [name, path, singular, fields, loc, said] of refused) {
    it(`refuses ${name}, and makes nothing`, async () => {
      const { status, body } = await service.post(path, { [singular]: { slug: 'refused', ...fields } })
      const isUnknown = body.errors[0].type === 'extra_forbidden'
      expect([status, body.code]).to.deep.equal([422, isUnknown ? 'unknown_field' : 'invalid_request'])
      expect(body.errors[0].loc.join('.')).to.equal(`body.${singular}.${loc}`)
      expect(body.detail).to.match(said)
      const found = await service.post('/workflows/query', {
        workflow: { slug: 'refused' },
        include_archived: true,
      })
      expect(found.body.count).to.equal(0)
    })
  }

  it('is not known where there is no catalog', async () => {
    const { status, body } = await service.post('/simple/testsets', {
      testset: { slug: 'rows', template: 'chat' },
    })
    expect([status, body.code]).to.deep.equal([422, 'unknown_field'])
  })
})
