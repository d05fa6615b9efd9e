import { expect } from 'chai'
import { type RunningService, startService } from '../../support/servers/service.ts'
import { type Agent, connectAgent, makePrompt } from './agent.ts'

describe('prompts and resources of /mcp', () => {
  let service: RunningService
  let agent: Agent
  before(async () => {
    service = await startService()
    await makePrompt(service, 'support-bot', 'You answer tickets. Be kind.')
    await service.post('/applications/revisions/deploy', {
      application_ref: { slug: 'support-bot' },
      environment_ref: { slug: 'production' },
    })
    await service.post('/applications/revisions/commit', {
      application_revision_commit: {
        application_ref: { slug: 'support-bot' },
        message: 'Jinja',
        data: {
          uri: 'svc:builtin:chat:v0',
          parameters: {
            prompt: {
              messages: [
                { role: 'user', content: [{ type: 'text', text: 'About {{ topic }}' }] },
                { role: 'assistant', content: 'Go on.' },
              ],
              input_keys: ['topic'],
              llm_config: { model: 'mock/examples' },
              template_format: 'jinja2',
            },
          },
        },
      },
    })
    await service.post('/simple/applications/', {
      application: { slug: 'no-prompt', data: { parameters: { a: 1 } } },
    })
    await service.post('/simple/workflows/', { workflow: { slug: 'plain', data: { parameters: { a: 1 } } } })
    await service.post('/simple/testsets/', {
      testset: { slug: 'rows', data: { testcases: [{ data: { country: 'Peru' } }] } },
    })
    agent = await connectAgent(service)
  })
  after(async () => {
    await agent.close()
    await service.stop()
  })

  // interface 17.6
  it('lists prompts with their variables, and fills them in', async () => {
    const { prompts } = await agent.client.listPrompts()
    expect(prompts).to.deep.equal([{ name: 'support-bot', arguments: [{ name: 'topic', required: true }] }])
    const text = (role: string, text: string) => ({ role, content: { type: 'text', text } })
    const fill = async (name: string, args: Record<string, string>) =>
      (await agent.client.getPrompt({ name, arguments: args })).messages
    expect(await fill('support-bot', { topic: 'cats' })).to.deep.equal([
      text('user', 'About cats'),
      text('assistant', 'Go on.'),
    ])
    const first = [text('user', 'You answer tickets. Be kind.'), text('user', 'Why?')]
    expect(await fill('support-bot@1', { question: 'Why?' })).to.deep.equal(first)
    expect(await fill('support-bot@production', { question: 'Why?' })).to.deep.equal(first)
    for (const [name, said] of [
      ['support-bot@1', "Unreplaced variables in curly template: ['question']"],
      ['suport-bot', 'Did you mean "support-bot"?'],
      ['support-bot@9', 'version'],
      ['support-bot@nowhere', 'environment'],
      ['no-prompt', 'is no prompt with messages'],
    ] as const) {
      const error = await fill(name, {}).catch((it) => it)
      expect(error.code, name).to.equal(-32602)
      expect(error.message).to.contain(said)
    }
  })

  // interface 17.7
  it('lists artifacts as resources, with templates, and reads them', async () => {
    const { resources } = await agent.client.listResources()
    expect(resources.map(({ uri }) => uri)).to.have.members([
      ...['branchpoint://applications/no-prompt', 'branchpoint://applications/support-bot'],
      ...['branchpoint://workflows/plain', 'branchpoint://testsets/rows'],
    ])
    const { resourceTemplates } = await agent.client.listResourceTemplates()
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).to.deep.equal([
      'branchpoint://{family}/{slug}',
      'branchpoint://{family}/{slug}@{version}',
      'branchpoint://{family}/{slug}@{environment}',
    ])
    const read = async (uri: string): Promise<any> => {
      const [content] = (await agent.client.readResource({ uri })).contents
      return JSON.parse(content && 'text' in content ? content.text : '')
    }
    expect(await read('branchpoint://applications/support-bot')).to.include({ version: 2, message: 'Jinja' })
    for (const place of ['1', 'production'])
      expect((await read(`branchpoint://applications/support-bot@${place}`)).version).to.equal(1)
    expect((await read('branchpoint://testsets/rows')).data.testcases[0].data.country).to.equal('Peru')
    for (const uri of ['branchpoint://secrets/x', 'branchpoint://applications', 'file:///etc/passwd', 'x'])
      expect((await read(uri).catch((error) => error)).message).to.contain('Resource not found')
    const missing = await read('branchpoint://applications/suport-bot').catch((error) => error)
    expect(missing.message).to.contain('Did you mean "support-bot"?')
    const { message } = await agent.client.listResources({ cursor: 'nonsense' }).catch((error) => error)
    expect(message).to.contain('send the nextCursor of the answer before')
  })
})
