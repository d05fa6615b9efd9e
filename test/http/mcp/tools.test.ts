import { expect } from 'chai'
import { type RunningService, startService } from '../../support/servers/service.ts'
import { type Agent, connectAgent, keyWith, makePrompt, type Said } from './agent.ts'

const READ = ['prompts_search', 'prompts_get', 'prompts_log', 'prompts_diff', 'prompts_blame'].concat(
  ...['testsets_rows', 'evaluations_results', 'traces_search'],
)
const AUTHOR = ['prompts_commit', 'prompts_fork', 'prompts_run', 'testsets_add_rows', 'evaluations_run']
const DEPLOY = ['prompts_deploy', 'prompts_rollback']

describe('tools of /mcp', () => {
  let service: RunningService
  let agent: Agent
  before(async () => {
    service = await startService()
    await makePrompt(service, 'support-bot', 'You answer tickets. Be kind.')
    agent = await connectAgent(service, { tools: 'deploy' })
  })
  after(async () => {
    await agent.close()
    await service.stop()
  })

  const call = async (name: string, args: object = {}): Promise<Said> => {
    const said = await agent.call(name, args)
    expect(said.isError, said.text).to.equal(false)
    return said
  }
  const refusal = async (name: string, args: object = {}): Promise<Said> => {
    const said = await agent.call(name, args)
    expect(said.isError, said.text).to.equal(true)
    expect(said.data.message).to.equal(said.text)
    return said
  }

  // interface 17.2
  it('has the tools of a group and of those before it, and says which group has another tool', async () => {
    for (const [tools, names] of [
      ['', READ],
      ['author', [...READ, ...AUTHOR]],
      ['deploy', [...READ, ...AUTHOR, ...DEPLOY]],
    ] as const) {
      const one = await connectAgent(service, { tools })
      expect((await one.client.listTools()).tools.map(({ name }) => name)).to.deep.equal(names)
      await one.close()
    }
    const reader = await connectAgent(service)
    const { code, message } = await reader.call('prompts_deploy').catch((error) => error)
    expect(code).to.equal(-32602)
    expect(message).to.contain('prompts_deploy is a tool of the group deploy: connect with /mcp?tools=deploy')
    const unknown = await reader.call('prompts_burn').catch((error) => error)
    expect(unknown.message).to.contain('There is no tool "prompts_burn"')
    await reader.close()
  })

  // interface 17.4
  it('has closed inputs and true hints', async () => {
    for (const { name, inputSchema, annotations, description } of (await agent.client.listTools()).tools) {
      expect(inputSchema, name).to.include({ type: 'object', additionalProperties: false })
      expect(annotations?.readOnlyHint, name).to.equal(READ.includes(name))
      expect(annotations?.destructiveHint, name).to.equal(DEPLOY.includes(name))
      expect(description?.length, name).to.be.greaterThan(40)
    }
    const { text, data } = await refusal('prompts_get', { nam: 'support-bot' })
    expect(data.code).to.equal('invalid_request')
    expect(text).to.contain('nam: there is no such argument; leave it out')
    expect(text).to.contain('name: expected string, and nothing was sent')
  })

  // interface 17.5
  it('reads, commits, compares, forks, deploys and rolls back', async () => {
    const first = await call('prompts_get', { name: 'support-bot' })
    expect(first.data).to.deep.include({
      artifact_slug: 'support-bot',
      version: 1,
      variant_slug: 'support-bot',
    })
    expect(first.data.data.parameters.prompt.messages[1].content).to.equal('{{question}}')
    expect(first.data).not.to.have.any.keys('flags', 'schemas')
    expect(JSON.parse(first.text)).to.deep.equal(first.data)

    const set = { 'parameters.prompt.messages.0.content': 'You answer tickets.\nBe brief.' }
    const { data: second } = await call('prompts_commit', {
      name: 'support-bot',
      message: 'Shorter answers',
      set,
    })
    expect(second).to.include({ version: 2, subject: 'Shorter answers' })
    const short = await call('prompts_get', {
      name: 'support-bot',
      fields: ['data.parameters.prompt.messages'],
    })
    expect(short.data.data.parameters.prompt).to.have.all.keys('messages')
    expect(short.data.data.parameters.prompt.messages[0].content).to.contain('Be brief.')

    const { data: log } = await call('prompts_log', { name: 'support-bot', limit: 1 })
    expect(log.application_revisions.map(({ version }: any) => version)).to.deep.equal([2])
    const { data: rest } = await call('prompts_log', { name: 'support-bot', limit: 1, next: log.next })
    expect(rest).to.not.have.property('next')
    expect(rest.application_revisions.map(({ version }: any) => version)).to.deep.equal([1])

    const { data: diff } = await call('prompts_diff', { name: 'support-bot', base: 1, head: 2 })
    expect(diff.files.map(({ diff }: any) => diff).join()).to.match(/\+.*Be brief\./)
    expect((await refusal('prompts_blame', { name: 'support-bot' })).text).to.contain(
      'Its texts are at /parameters/prompt/messages/0/content',
    )
    const place = '/parameters/prompt/messages/0/content'
    const { data: blame } = await call('prompts_blame', { name: 'support-bot', place })
    expect(blame.lines.map(({ text }: any) => text)).to.deep.equal(['You answer tickets.', 'Be brief.'])

    await call('prompts_fork', { name: 'support-bot', version: 1, new_variant: 'warmer' })
    expect((await call('prompts_get', { name: 'support-bot', variant: 'warmer' })).data.version).to.equal(1)

    expect(
      (await refusal('prompts_get', { name: 'support-bot', environment: 'production' })).data.code,
    ).to.equal('deployment_not_found')
    expect(
      (await refusal('prompts_rollback', { name: 'support-bot', environment: 'production' })).text,
    ).to.contain('Nothing has been deployed')
    await call('prompts_deploy', { name: 'support-bot', version: 1, environment: 'production' })
    const { data: deployed } = await call('prompts_deploy', {
      name: 'support-bot',
      environment: 'production',
    })
    expect(deployed.deployments[0]).to.include({ environment: 'production', version: 2, changed: true })
    const inProduction = async () =>
      (await call('prompts_get', { name: 'support-bot', environment: 'production' })).data.version
    expect(await inProduction()).to.equal(2)
    await call('prompts_rollback', { name: 'support-bot', environment: 'production' })
    expect(await inProduction()).to.equal(1)
    // A second one goes further back, and never forward again.
    const further = await refusal('prompts_rollback', { name: 'support-bot', environment: 'production' })
    expect(further.text).to.contain('Name a version: prompts_deploy.')
    const { data: log1 } = await call('prompts_log', { name: 'support-bot', environment: 'production' })
    expect(log1.application_revisions.map(({ version }: any) => version)).to.deep.equal([1])
    const both = await refusal('prompts_get', { name: 'support-bot', environment: 'production', version: 2 })
    expect(both.text).to.contain('an environment runs one version')
  })

  it('finds prompts, runs them, and finds the runs', async () => {
    const { data: found } = await call('prompts_search', { query: 'tickets' })
    expect(found.hits[0]).to.deep.include({ kind: 'application', artifact: { slug: 'support-bot' } })
    const { data: listed } = await call('prompts_search')
    expect(listed.applications.map(({ slug }: any) => slug)).to.include('support-bot')
    expect((await call('prompts_search', { kinds: ['environment'] })).data.environments).to.have.length(3)
    expect((await refusal('prompts_search', { kinds: ['application', 'row'] })).text).to.contain(
      'name one kind',
    )

    const ran = await call('prompts_run', {
      name: 'support-bot',
      version: 1,
      inputs: { question: 'How are you?' },
    })
    expect(ran.data.data.outputs).to.equal('How are you?')
    const failed = await refusal('prompts_run', { name: 'support-bot', inputs: {} })
    expect(failed.text).to.contain("Unreplaced variables in curly template: ['question']")
    const ids = async (args: object): Promise<string[]> =>
      (await call('traces_search', { name: 'support-bot', ...args })).data.traces.map(
        (it: any) => it.trace_id,
      )
    expect(await ids({})).to.deep.equal([failed.data.trace_id, ran.data.trace_id])
    expect(await ids({ failed: true })).to.deep.equal([failed.data.trace_id])
    expect(await ids({ failed: false, contains: 'How are' })).to.deep.equal([ran.data.trace_id])
    expect(await ids({ version: 1 })).to.deep.equal([ran.data.trace_id])
    expect(await ids({ since: '2100-01-01T00:00:00Z' })).to.deep.equal([])
    expect((await refusal('traces_search', { version: 1 })).text).to.contain('name the prompt')
  })

  it('adds rows, evaluates, and pages through rows and results', async () => {
    await service.post('/simple/testsets/', {
      testset: { slug: 'capitals', data: { testcases: [{ data: { country: 'Peru', capital: 'Lima' } }] } },
    })
    const rows = [
      { country: 'Norway', capital: 'Oslo' },
      { country: 'Chad', capital: 'N’Djamena' },
    ]
    expect((await call('testsets_add_rows', { name: 'capitals', rows })).data.version).to.equal(2)
    const { data: page } = await call('testsets_rows', { name: 'capitals', limit: 2, fields: ['country'] })
    expect(page.rows).to.deep.equal([{ country: 'Peru' }, { country: 'Norway' }])
    const { data: last } = await call('testsets_rows', { name: 'capitals', limit: 2, next: page.next })
    expect(last.rows).to.have.length(1)
    expect(last).not.to.have.property('next')

    const examples = [
      ...[
        { role: 'user', content: 'Peru' },
        { role: 'assistant', content: 'Lima' },
      ],
      ...[
        { role: 'user', content: 'Norway' },
        { role: 'assistant', content: 'Oslo' },
      ],
    ]
    const prompt = {
      messages: [...examples, { role: 'user', content: '{{country}}' }],
      llm_config: { model: 'mock/examples' },
    }
    await service.post('/simple/applications/', {
      application: { slug: 'atlas', data: { uri: 'svc:builtin:completion:v0', parameters: { prompt } } },
    })
    await service.post('/simple/evaluators/', {
      evaluator: {
        slug: 'exact',
        template: 'auto_exact_match',
        data: { parameters: { correct_answer_key: 'capital' } },
      },
    })
    const order = { testset: 'capitals@2', application: 'atlas', evaluators: ['exact@1'] }
    const { data: begun } = await call('evaluations_run', order)
    const results = (args: object) => call('evaluations_results', { id: begun.id, ...args })
    while ((await results({})).data.evaluation.state === 'running');
    const { data: first } = await results({ limit: 2 })
    expect(first.evaluation.summary.evaluators.exact).to.include({ passed: 2 })
    expect(first.results[0].evaluators).to.deep.equal({ exact: { outputs: { success: true } } })
    expect((await results({ limit: 2, next: first.next })).data.results).to.have.length(1)
    expect((await results({ outcome: 'failed' })).data.results).to.have.length(1)
    expect((await refusal('evaluations_results', { id: 'none' })).isError).to.equal(true)
  })

  // interface 17.3
  it('keeps to the scopes of the key, and says what the route says and what to do next', async () => {
    const { text, data } = await refusal('prompts_get', { name: 'suport-bot' })
    expect(data).to.include({ code: 'artifact_not_found', status: 404 })
    expect(text).to.contain('Did you mean "support-bot"? prompts_search lists what there is')

    const reader = await connectAgent(service, { tools: 'deploy', key: await keyWith(service, 'read') })
    for (const [tool, args] of [
      ['prompts_commit', { message: 'No', set: { 'parameters.x': 1 } }],
      ['prompts_fork', { new_variant: 'no' }],
      ['prompts_run', { inputs: {} }],
      ['prompts_deploy', { environment: 'staging' }],
    ] as const) {
      const said = await reader.call(tool, { name: 'support-bot', ...args })
      expect(said.isError, tool).to.equal(true)
      expect(said.data.code, said.text).to.equal('missing_scope')
      expect(said.text).to.contain('this request needs')
    }
    await reader.close()
    const runner = await connectAgent(service, { tools: 'author', key: await keyWith(service, 'invoke') })
    expect((await runner.call('prompts_get', { name: 'support-bot' })).data.code).to.equal('missing_scope')
    const ran = await runner.call('prompts_run', { name: 'support-bot', inputs: { question: 'Hm?' } })
    expect(ran.data.data.outputs).to.equal('Hm?')
    await runner.close()
    const { body } = await service.post('/applications/variants/query', {
      application_refs: [{ slug: 'support-bot' }],
    })
    expect(body.application_variants.map(({ slug }: any) => slug)).not.to.include('no')
  })

  it('refuses a commit that says nothing, both ways, or names what is not there, and stores nothing', async () => {
    const name = 'support-bot'
    const latest = async () => (await call('prompts_get', { name })).data.id
    const before = await latest()
    for (const [args, said] of [
      [{}, 'send one of them, and not both'],
      [{ set: { 'parameters.x': 1 }, data: {} }, 'send one of them, and not both'],
      [{ set: { 'parameters.prompt.messages.9.content': '' } }, '"9" is not a place in a list of'],
      [{ set: { 'parameters.none.more': 1 } }, 'set: parameters.none.more: "none" is not there'],
      [{ set: { 'data.uri.x': 1 } }, '"data" is not there'],
      [{ set: [] }, 'set: must be an object'],
      [{ data: { uri: 7 } }, 'uri'],
    ] as const)
      expect((await refusal('prompts_commit', { name, message: 'x', ...args })).text).to.contain(said)
    expect(await latest()).to.equal(before)
  })
})
