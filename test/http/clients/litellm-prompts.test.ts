import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { ADMIN_KEY, type Reply, type RunningService, startService } from '../../support/servers/service.ts'
import { basic, changePrompt, deploy, expectProblem, makePrompt } from './prompts.ts'

const PATH = '/beta/litellm_prompt_management'

describe('prompts as LiteLLM reads them', () => {
  let service: RunningService
  const get = (query: string, headers?: Readonly<Record<string, string>>): Promise<Reply> =>
    service.get(`${PATH}${query}`, headers ?? { authorization: `Bearer ${ADMIN_KEY}` })
  const textOf = async (content: string, template_format?: string): Promise<string> => {
    const slug = `p${++made}`
    await makePrompt(service, slug, { prompt: { messages: [{ role: 'user', content }], template_format } })
    return (await get(`?prompt_id=${slug}@latest`)).body.prompt_template[0].content
  }
  let made = 0

  before(async () => {
    service = await startService()
    const first = {
      prompt: {
        messages: [
          { role: 'system', content: 'You are kind to {{ customer.name }}.' },
          { role: 'placeholder', name: 'history' },
          { role: 'user', content: '{{question}}' },
        ],
        llm_config: {
          model: 'gpt-4o-mini',
          temperature: 0.2,
          top_p: null,
          connection: 'OURS',
          tools: [{ type: 'function' }],
        },
      },
    }
    const variant = await makePrompt(service, 'support-bot', first)
    await changePrompt(service, variant, { prompt: { messages: [{ role: 'user', content: 'Second' }] } })
    await deploy(service, 'support-bot', 1, 'production')
    await deploy(service, 'support-bot', 2, 'staging')
  })
  after(() => service.stop())

  it('are those with which LiteLLM was seen to ask a model', async () => {
    const { prompts, cases } = JSON.parse(readFileSync('test/http/clients/litellm.json', 'utf8'))
    const seen = await startService()
    try {
      for (const [path, body] of prompts) expect((await seen.post(path, body)).status).to.equal(200)
      for (const { request, authorization, status, answer } of cases) {
        const [method = '', path = ''] = request.split(' ')
        const reply = await seen.call(method, path, undefined, {
          authorization: authorization.replace('KEY', ADMIN_KEY),
        })
        expect({ status: reply.status, answer: reply.body }, request).to.deep.equal({ status, answer })
      }
      const [{ sent }] = cases
      expect(sent.messages.at(-2)).to.deep.equal({
        role: 'user',
        content: 'Where is my order? Really, Where is my order?',
      })
    } finally {
      await seen.stop()
    }
  })

  // interface 16.7
  it('are messages, a model and its parameters, without placeholders for messages', async () => {
    const { body, status } = await get('?prompt_id=support-bot')
    expect(status).to.equal(200)
    expect(body).to.deep.equal({
      prompt_id: 'support-bot',
      prompt_template: [
        { role: 'system', content: 'You are kind to {customer.name}.' },
        { role: 'user', content: '{question}' },
      ],
      prompt_template_model: 'gpt-4o-mini',
      prompt_template_optional_params: { temperature: 0.2, tools: [{ type: 'function' }] },
    })
  })

  it('are named by environment or version, behind an @ or beside the id', async () => {
    const second = [{ role: 'user', content: 'Second' }]
    for (const query of [
      '@staging',
      '@2',
      '@latest',
      '&environment=staging',
      '&version=2',
      '@2&version=2',
      '@staging&environment=staging',
    ]) {
      const { body } = await get(`?prompt_id=support-bot${query}`)
      expect(body.prompt_template, query).to.deep.equal(second)
    }
    expect((await get('?prompt_id=support-bot%40staging')).body.prompt_id).to.equal('support-bot@staging')
    await makePrompt(service, 'bare', { prompt: { messages: [] } })
    expect((await get('?prompt_id=bare@1')).body).to.deep.equal({ prompt_id: 'bare@1', prompt_template: [] })
  })

  it('have their variables in single braces, and nothing else changed', async () => {
    expect(await textOf('{{a}} {b} {"c": {{d}}} \\{{e}} {{{f}}}')).to.equal('{a} {b} {"c": {d}} {{e}} {{f}}')
    expect(await textOf('{{a}} {{ b }} {{#list}}x{{/list}}', 'mustache')).to.equal(
      '{a} {b} {{#list}}x{{/list}}',
    )
    expect(await textOf('{{ a }} {{ b | upper }}', 'jinja2')).to.equal('{a} {{ b | upper }}')
    expect(await textOf('{a} {{b}}', 'fstring')).to.equal('{a} {{b}}')
  })

  it('are refused where nothing is meant, or two things are', async () => {
    expectProblem(await get(''), 422, 'invalid_request', 'prompt_id')
    for (const query of [
      '@1&version=2',
      '@staging&environment=production',
      '@staging&version=1',
      '&environment=staging&version=1',
    ])
      expectProblem(await get(`?prompt_id=support-bot${query}`), 400, 'contradictory_request')
    expectProblem(await get('?prompt_id=nobody'), 404, 'artifact_not_found')
    expectProblem(await get('?prompt_id=support-bot@'), 404, 'deployment_not_found')
    expectProblem(await get('?prompt_id=support-bot@nobody'), 404, 'deployment_not_found', 'production')
    expectProblem(await get('?prompt_id=support-bot@9'), 404, 'revision_not_found')
    expectProblem(await get(`?prompt_id=support-bot@${'9'.repeat(400)}`), 404, 'deployment_not_found')
    expectProblem(await get(`?prompt_id=${'x'.repeat(500)}`), 404, 'artifact_not_found')
    expectProblem(await get('?prompt_id=a%2Fb%25'), 404, 'artifact_not_found')
  })

  // interface 16.1, 16.2
  it('need a key with the scope read, at this address alone; Basic is for Langfuse', async () => {
    expectProblem(await get('?prompt_id=support-bot', { authorization: '' }), 401, 'missing_key')
    expectProblem(await get('?prompt_id=support-bot', { authorization: 'Bearer nobody' }), 401, 'unknown_key')
    expectProblem(await get('?prompt_id=support-bot', basic(ADMIN_KEY)), 401, 'missing_key', 'Basic')
    const { key } = (await service.post('/keys', { key: { name: 'runner', scopes: ['invoke'] } })).body
    expectProblem(
      await get('?prompt_id=support-bot', { authorization: `Bearer ${key.secret}` }),
      403,
      'missing_scope',
    )
    expect((await service.get(`/api${PATH}?prompt_id=support-bot`)).body.code).to.equal('route_not_found')
    expectProblem(await service.post(PATH, {}), 405, 'method_not_allowed')
  })
})
