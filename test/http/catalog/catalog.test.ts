import type { CatalogTemplate } from '../../../src/run/catalog/catalog-template.ts'
import { catalogTemplates } from '../../../src/run/catalog/find-in-catalog.ts'
import { expect } from 'chai'
import { createApiKey } from '../../../src/access/keys/api-keys.ts'
import { SCOPES } from '../../../src/access/keys/scope.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { type RunningService, startService } from '../../support/servers/service.ts'

const EVALUATORS = catalogTemplates.filter(({ flags }) => flags.is_evaluator)

/** The keys of those that are not archived. */
const offered = (all: readonly CatalogTemplate[]) =>
  all.filter(({ flags }) => !flags.is_archived).map(({ key }) => key)

describe('catalog', () => {
  let service: RunningService
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  const keysOf = (list: readonly { readonly key: string }[]) => list.map(({ key }) => key)
  const templates = async (
    path: string,
  ): Promise<readonly { key: string; flags: Record<string, boolean> }[]> => {
    const { status, text, body } = await service.get(path)
    expect(status, text).to.equal(200)
    expect(body.count).to.equal(body.templates.length)
    return body.templates
  }

  describe('types', () => {
    // interface 7.14
    it('are the same sixteen on every surface, at every spelling of the path', async () => {
      const first = await service.get('/workflows/catalog/types/')
      expect(first.body.count).to.equal(16)
      expect(first.body.types).to.have.length(16)
      expect(first.body.types[0]).to.have.keys('key', 'json_schema')
      for (const path of [
        '/api/workflows/catalog/types',
        '/applications/catalog/types',
        '/evaluators/catalog/types/',
      ])
        expect((await service.get(path)).text, path).to.equal(first.text)
    })

    it('come one by one, in the order and with the numbers of their schemas', async () => {
      const { body } = await service.get('/evaluators/catalog/types/prompt-template')
      expect(body.count).to.equal(1)
      expect(body.type.key).to.equal('prompt-template')
      expect(Object.keys(body.type.json_schema.properties).slice(0, 3)).to.deep.equal([
        'messages',
        'template_format',
        'input_keys',
      ])
    })

    it('that are not there are 404, with the names of those that are', async () => {
      for (const key of ['nope', 'Message', '__proto__', '%zz', 'a%20b']) {
        const { status, body } = await service.get(`/workflows/catalog/types/${key}`)
        expect([status, body.code, body.count], key).to.deep.equal([404, 'type_not_found', 0])
        expect(body.detail).to.include('prompt-template')
      }
    })
  })

  describe('templates', () => {
    // interface 7.13
    it('are listed by the role of the surface, without those that are archived', async () => {
      expect(keysOf(await templates('/workflows/catalog/templates/'))).to.deep.equal(
        offered(catalogTemplates),
      )
      expect(keysOf(await templates('/workflows/catalog/templates?include_archived=true'))).to.deep.equal(
        keysOf(catalogTemplates),
      )
      expect(keysOf(await templates('/applications/catalog/templates/'))).to.deep.equal([
        'feedback',
        'hook',
        'code',
        'mock',
        'llm',
        'chat',
        'completion',
        'agent',
      ])
      const evaluators = await templates('/evaluators/catalog/templates/')
      const all = await templates('/evaluators/catalog/templates?include_archived=true')
      expect(keysOf(evaluators)).to.deep.equal(offered(EVALUATORS))
      expect(keysOf(all)).to.deep.equal(keysOf(EVALUATORS))
      expect(keysOf(all).filter((key) => !keysOf(evaluators).includes(key))).to.deep.equal([
        'field_match_test',
        'auto_starts_with',
        'auto_ends_with',
        'auto_contains',
        'auto_contains_any',
        'auto_contains_all',
      ])
    })

    it('are filtered by flags, whose values are true or false', async () => {
      const path = '/workflows/catalog/templates'
      expect(keysOf(await templates(`${path}?is_application=true`))).to.deep.equal(
        keysOf(await templates('/applications/catalog/templates')),
      )
      expect(keysOf(await templates(`${path}?is_evaluator=false`))).to.deep.equal([
        'chat',
        'completion',
        'agent',
      ])
      expect(await templates(`${path}?is_snippet=true`)).to.deep.equal([])
      expect(await templates('/applications/catalog/templates?is_application=false')).to.deep.equal([])
      expect(keysOf(await templates('/evaluators/catalog/templates?is_application=true'))).to.include('llm')
      for (const query of ['include_archived=yes', 'is_evaluator=1', 'is_snippet=']) {
        const { status, body } = await service.get(`${path}?${query}`)
        expect([status, body.code], query).to.deep.equal([422, 'invalid_request'])
        expect(body.errors[0].loc).to.deep.equal(['query', query.slice(0, query.indexOf('='))])
      }
    })

    // interface 7.13
    it('say uri, schemas and parameters at the top and under data; a name only where there is one', async () => {
      for (const template of await templates('/workflows/catalog/templates?include_archived=true')) {
        const { data, ...rest } = template as unknown as Record<string, object>
        for (const part of ['uri', 'schemas', 'parameters'])
          expect((data as Record<string, unknown>)[part], `${template.key} ${part}`).to.deep.equal(rest[part])
        const one = await service.get(`/workflows/catalog/templates/${template.key}`)
        expect(one.body.template).to.deep.equal(template)
        expect('name' in template, template.key).to.equal(!['mock', 'echo'].includes(template.key))
      }
      const { body } = await service.get('/workflows/catalog/templates/completion')
      expect(body.template.data.parameters.prompt).to.include({
        template_format: 'mustache',
        input_keys: null,
      })
    })

    // interface 7.13
    it('come one by one with their presets, archived ones too', async () => {
      const one = await service.get('/evaluators/catalog/templates/auto_ai_critique/')
      expect(one.body.template).to.include({ uri: 'svc:builtin:auto_ai_critique:v0', name: 'LLM-as-a-judge' })
      const presets = await service.get('/evaluators/catalog/templates/auto_ai_critique/presets/')
      expect(presets.body.count).to.equal(4)
      expect(one.body.template.presets).to.deep.equal(presets.body.presets)
      const archived = await service.get('/evaluators/catalog/templates/auto_contains')
      expect(archived.body.template.flags).to.include({ is_archived: true, is_evaluator: true })
      expect(archived.body.template.presets).to.deep.equal([])
    })

    it('that are not there, or not for the surface, are 404', async () => {
      for (const path of [
        '/workflows/catalog/templates/nope',
        '/workflows/catalog/templates/nope/presets',
        '/workflows/catalog/templates/nope/presets/starts_with',
        '/applications/catalog/templates/auto_exact_match',
        '/evaluators/catalog/templates/chat',
        '/workflows/catalog/templates/constructor',
      ]) {
        const { status, body } = await service.get(path)
        expect([status, body.code], path).to.deep.equal([404, 'template_not_found'])
        expect(body.detail, path).to.match(/ are .*feedback, hook/)
      }
    })
  })

  describe('presets', () => {
    // interface 7.14
    it('come one by one with the roles and the uri of their template', async () => {
      const path = '/workflows/catalog/templates/auto_regex_test/presets/starts_with'
      const { body } = await service.get(path)
      const parameters = { regex_pattern: '^PREFIX_PLACEHOLDER', regex_should_match: true }
      expect(body.preset.data).to.deep.equal({ uri: 'svc:builtin:auto_regex_test:v0', parameters })
      expect(body.preset.flags).to.deep.equal({
        is_application: false,
        is_evaluator: true,
        is_snippet: false,
        is_archived: false,
        is_recommended: false,
      })
    })

    it('that are not there are 404', async () => {
      for (const [path, said] of [
        ['auto_regex_test/presets/nope', 'starts_with'],
        ['auto_exact_match/presets/starts_with', 'none'],
      ]) {
        const { status, body } = await service.get(`/workflows/catalog/templates/${path}`)
        expect([status, body.code], path).to.deep.equal([404, 'preset_not_found'])
        expect(body.detail).to.include(said)
      }
    })
  })

  // interface 11.25
  it('has no harnesses', async () => {
    const { body } = await service.get('/workflows/catalog/harnesses/')
    expect(body).to.deep.equal({ count: 0, harnesses: [] })
  })

  it('shows the evaluators in the shape of before, too', async () => {
    const { body } = await service.get('/simple/evaluators/templates/')
    expect(keysOf(body.templates)).to.deep.equal(keysOf(await templates('/evaluators/catalog/templates')))
    const all = await service.get('/simple/evaluators/templates?include_archived=true')
    expect(all.body.count).to.equal(EVALUATORS.length)
    const find = (key: string) => all.body.templates.find((it: { key: string }) => it.key === key)
    expect(find('auto_exact_match')).to.deep.include({
      direct_use: true,
      settings_template: {
        correct_answer_key: {
          label: 'Input that holds the expected answer',
          type: 'text',
          default: 'correct_answer',
          description:
            'The column of the testset that says what the output should be, such as correct_answer.',
          required: false,
          advanced: true,
        },
      },
      tags: ['classifiers'],
      archived: false,
      requires_llm_api_keys: false,
    })
    expect(find('auto_starts_with')).to.include({ direct_use: false, archived: true })
    expect(find('auto_regex_test').settings_presets).to.have.length(5)
    expect(find('auto_ai_critique').requires_llm_api_keys).to.equal(true)
  })

  it('is for every key, whatever it may do, and for nobody without one', async () => {
    for (const scope of SCOPES) {
      const { token } = await createApiKey(nodeFs, service.storeDir, {
        project: 'default',
        name: scope,
        scopes: [scope],
      })
      const { status } = await service.get('/workflows/catalog/types', { authorization: `ApiKey ${token}` })
      expect(status, scope).to.equal(200)
    }
    const { status } = await service.get('/workflows/catalog/types', { authorization: 'ApiKey nobody' })
    expect(status).to.equal(401)
  })

  it('only reads', async () => {
    for (const path of [
      '/workflows/catalog/templates',
      '/evaluators/catalog/templates/auto_regex_test/presets',
    ]) {
      const { status, body } = await service.post(path)
      expect([status, body.code]).to.deep.equal([405, 'method_not_allowed'])
    }
  })
})
