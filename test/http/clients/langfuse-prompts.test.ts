import { expect } from 'chai'
import { ADMIN_KEY, type Reply, type RunningService, startService } from '../../support/servers/service.ts'
import { basic, changePrompt, deploy, expectProblem, makePrompt } from './prompts.ts'

const PROMPTS = '/api/public/v2/prompts'

const CHAT = {
  prompt: {
    messages: [
      {
        role: 'system',
        content: [
          { type: 'text', text: 'You are ' },
          { type: 'text', text: 'kind.' },
        ],
      },
      { role: 'placeholder', name: 'history' },
      { role: 'user', content: '{{question}}' },
      { role: 'assistant', tool_calls: [] },
    ],
    template_format: 'curly',
    llm_config: { model: 'gpt-4o-mini', temperature: 0.2, max_tokens: null },
  },
  temperature: 9,
  stop_after: 12345678901234567890n,
}

describe('prompts as the SDKs of Langfuse read them', () => {
  let service: RunningService
  const get = (path: string, headers: Readonly<Record<string, string>> = basic(ADMIN_KEY)): Promise<Reply> =>
    service.get(`${PROMPTS}${path}`, headers)

  before(async () => {
    service = await startService()
    const chat = JSON.parse(
      JSON.stringify(CHAT, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    )
    const support = await makePrompt(service, 'support-bot', chat, {
      tags: { team: 'support', beta: true, area: { city: 'Bern' } },
    })
    await changePrompt(
      service,
      support,
      { ...chat, prompt: { ...chat.prompt, messages: [{ role: 'user', content: 'Hi {{name}}' }] } },
      'Shorter',
    )
    await deploy(service, 'support-bot', 1, 'production')
    await deploy(service, 'support-bot', 2, 'staging')
    await makePrompt(service, 'greeting', { prompt: { user_prompt: 'Hello', llm_config: { model: 'm' } } })
    await service.post('/applications', { application: { slug: 'without-versions' } })
    await service.post('/simple/evaluators', {
      evaluator: { slug: 'judge', data: { uri: 'svc:builtin:auto_exact_match:v0' } },
    })
  })
  after(() => service.stop())

  // interface 16.2
  it('need a key: as the password of Basic beside any user name, or as everywhere', async () => {
    for (const headers of [
      basic(ADMIN_KEY),
      basic(ADMIN_KEY, ''),
      basic(ADMIN_KEY, 'Zoë'),
      { authorization: `Bearer ${ADMIN_KEY}` },
      { authorization: '', 'x-api-key': ADMIN_KEY },
    ])
      for (const path of ['', '/support-bot']) expect((await get(path, headers)).status).to.equal(200)
    for (const headers of [basic(''), { authorization: '' }, { authorization: 'Basic ?' }]) {
      const refused = await get('/support-bot', headers)
      expectProblem(refused, 401, 'missing_key')
      expect(refused.headers.get('www-authenticate')).to.match(/^Basic /)
    }
    expectProblem(await get('/support-bot', basic('nobody')), 401, 'unknown_key')
    const elsewhere = await service.get('/applications/support-bot', basic(ADMIN_KEY))
    expect(elsewhere.body.code).to.equal('missing_key')
    const { key } = (await service.post('/keys', { key: { name: 'writer', scopes: ['write'] } })).body
    for (const path of ['', '/support-bot'])
      expectProblem(await get(path, basic(key.secret)), 403, 'missing_scope')
  })

  // interface 16.1
  it('are at these very addresses, with or without a slash at the end', async () => {
    expect((await get('/')).status).to.equal(200)
    for (const path of [
      '/public/v2/prompts',
      '/api/api/public/v2/prompts',
      '/preview/api/public/v2/prompts/support-bot',
      `${PROMPTS}/a/b`,
    ])
      expect((await service.get(path)).body, path).to.include({ status: 404, code: 'route_not_found' })
    expect((await service.post(PROMPTS, {})).body.code).to.equal('method_not_allowed')
  })

  // interface 16.3, 16.4
  it('are what runs in production, unless a label or a version is named', async () => {
    const production = await get('/support-bot')
    expect(production.body).to.deep.equal({
      name: 'support-bot',
      version: 1,
      type: 'chat',
      prompt: [
        { role: 'system', content: 'You are kind.' },
        { type: 'placeholder', name: 'history' },
        { role: 'user', content: '{{question}}' },
        { role: 'assistant', content: '' },
      ],
      config: {
        model: 'gpt-4o-mini',
        temperature: 0.2,
        max_tokens: null,
        template_format: 'curly',
        stop_after: '12345678901234567890',
      },
      labels: ['production'],
      tags: ['team:support', 'beta:true', 'area.city:Bern'],
      commitMessage: null,
    })
    expect((await get('/support-bot?label=production')).text).to.equal(production.text)
    expect((await get('/support-bot?version=1&resolve=true')).text).to.equal(production.text)
    const latest = await get('/support-bot?label=latest')
    expect(latest.body).to.deep.include({
      version: 2,
      type: 'text',
      prompt: 'Hi {{name}}',
      labels: ['staging', 'latest'],
      commitMessage: 'Shorter',
    })
    expect((await get('/support-bot?label=staging')).text).to.equal(latest.text)
    expect((await get('/support-bot?version=2')).text).to.equal(latest.text)
    expect((await get('/greeting?label=latest')).body).to.deep.include({
      type: 'text',
      prompt: 'Hello',
      config: { model: 'm' },
    })
  })

  it('have what they embed filled in, unless the client wants them as they are stored', async () => {
    const text = 'Say: @{{workflow.slug=greeting, path=prompt.user_prompt}}!'
    await makePrompt(service, 'embedding', { prompt: { messages: [{ role: 'user', content: text }] } })
    expect((await get('/embedding?label=latest')).body.prompt).to.equal('Say: Hello!')
    expect((await get('/embedding?label=latest&resolve=false')).body.prompt).to.equal(text)
  })

  // interface 16.6
  it('are refused with the problem document and what Langfuse calls the same', async () => {
    expectProblem(
      await get('/support-bot?label=development'),
      404,
      'deployment_not_found',
      'labels are staging, production, latest',
    )
    expectProblem(await get('/support-bot?label=nobody'), 404, 'deployment_not_found', '"nobody"')
    expectProblem(await get(`/support-bot?label=${'x'.repeat(500)}`), 404, 'deployment_not_found')
    expectProblem(await get('/greeting'), 404, 'deployment_not_found', 'production')
    expectProblem(await get('/support-bot?version=9'), 404, 'revision_not_found', 'latest version .* is 2')
    expectProblem(await get('/support-bot?version=0'), 422, 'invalid_request')
    expectProblem(await get('/support-bot?version=1&label=latest'), 400, 'contradictory_request')
    expectProblem(await get('/support-bott'), 404, 'artifact_not_found', 'support-bot')
    expectProblem(
      await get('/judge?label=latest'),
      404,
      'artifact_not_found',
      'only applications are prompts',
    )
    expectProblem(await get('/without-versions?label=latest'), 404, 'variant_not_found')
    expectProblem(await get('/support-bot?lable=latest'), 422, 'unknown_field', 'label')
  })

  it('of names that no prompt can have are not there', async () => {
    for (const name of ['folder/support-bot', '50%', '../../keys', 'x'.repeat(500), 'a b', '\0', 'é'])
      expectProblem(await get(`/${encodeURIComponent(name)}`), 404, 'artifact_not_found')
    for (const name of ['%', '%zz', '%2']) expectProblem(await get(`/${name}`), 404, 'artifact_not_found')
  })

  // interface 16.5
  it('are listed by name, in pages', async () => {
    const { body } = await get('')
    expect(body.data.map(({ name }: { name: string }) => name)).to.deep.equal([
      'embedding',
      'greeting',
      'support-bot',
    ])
    expect(body.meta).to.deep.equal({ page: 1, limit: 10, totalItems: 3, totalPages: 1 })
    const { lastUpdatedAt, ...listed } = body.data[2]
    expect(listed).to.deep.equal({
      name: 'support-bot',
      type: 'text',
      versions: [1, 2],
      labels: ['staging', 'production', 'latest'],
      tags: ['team:support', 'beta:true', 'area.city:Bern'],
      lastConfig: {
        model: 'gpt-4o-mini',
        temperature: 0.2,
        max_tokens: null,
        template_format: 'curly',
        stop_after: '12345678901234567890',
      },
    })
    expect(Date.parse(lastUpdatedAt)).to.be.greaterThan(0)
    const second = await get('?limit=2&page=2')
    expect(second.body.data).to.deep.equal([body.data[2]])
    expect(second.body.meta).to.deep.equal({ page: 2, limit: 2, totalItems: 3, totalPages: 2 })
    expect((await get('?page=7')).body).to.deep.equal({ data: [], meta: { ...body.meta, page: 7 } })
  })

  it('are listed by name, label and tag', async () => {
    const names = async (query: string): Promise<string[]> =>
      (await get(`?${query}`)).body.data.map(({ name }: { name: string }) => name)
    expect(await names('name=support-bot')).to.deep.equal(['support-bot'])
    expect(await names('name=support')).to.deep.equal([])
    expect(await names('label=production')).to.deep.equal(['support-bot'])
    expect(await names('label=latest')).to.have.length(3)
    expect(await names('label=nobody')).to.deep.equal([])
    for (const tag of ['team:support', 'support', 'Bern', 'beta:true'])
      expect(await names(`tag=${tag}`), tag).to.deep.equal(['support-bot'])
    expect(await names('tag=team')).to.deep.equal([])
    for (const query of ['limit=0', 'limit=101', 'page=0', 'page=x', 'limit=1.5'])
      expectProblem(await get(`?${query}`), 422, 'invalid_request')
  })

  it('say what is missing also to clients of the existing service', async () => {
    const existing = await startService({ env: { COMPAT: 'existing' } })
    try {
      expectProblem(await existing.get(`${PROMPTS}/nobody`), 404, 'artifact_not_found')
      expectProblem(await existing.get(`${PROMPTS}/nobody?version=0`), 422, 'invalid_request')
    } finally {
      await existing.stop()
    }
  })
})
