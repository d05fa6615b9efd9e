import { expect } from 'chai'
import { ADMIN_KEY, type RunningService, startService } from '../../support/servers/service.ts'

describe('http: the model mock/examples', () => {
  let service: RunningService
  before(async () => {
    service = await startService({})
  })
  after(() => service.stop())

  interface Call {
    readonly messages: readonly object[]
    readonly inputs?: object
    readonly model?: string
  }

  const PATH = '/services/completion/v0/invoke'
  const bodyOf = ({ messages, inputs = {}, model = 'mock/examples' }: Call) => ({
    data: {
      inputs,
      parameters: { prompt: { messages, llm_config: { model }, template_format: 'curly' } },
    },
  })
  const invoke = (call: Call) => service.post(PATH, bodyOf(call))

  const user = (content: unknown) => ({ role: 'user', content })
  const assistant = (content: unknown) => ({ role: 'assistant', content })
  const EXAMPLES = [
    { role: 'system', content: 'You know capitals.' },
    user('Peru'),
    assistant('Lima'),
    user('Norway'),
    assistant('Oslo'),
  ]

  const answers: readonly [what: string, call: Call, answer: string][] = [
    [
      'what the assistant said to an equal message',
      { messages: [...EXAMPLES, user('{{country}}')], inputs: { country: 'Peru' } },
      'Lima',
    ],
    ['regardless of white space at its ends', { messages: [...EXAMPLES, user(' Norway\n')] }, 'Oslo'],
    [
      'the newest of several',
      { messages: [...EXAMPLES, user('Peru'), assistant('Cusco'), user('Peru')] },
      'Cusco',
    ],
    ['the message itself where no example is equal', { messages: [...EXAMPLES, user('peru')] }, 'peru'],
    [
      'no message that nobody answered',
      { messages: [user('Peru'), user('Peru'), { role: 'system', content: 'x' }] },
      'Peru',
    ],
    [
      'parts by their texts',
      { messages: [user([{ type: 'text', text: 'Peru' }]), assistant('Lima'), user('Peru')] },
      'Lima',
    ],
  ]
  for (const [what, call, answer] of answers) {
    // interface 11.24
    it(`answers ${what}`, async () => {
      const { status, body, text } = await invoke(call)
      expect(status, text).to.equal(200)
      expect(body.data.outputs).to.equal(answer)
    })
  }

  it('counts words as tokens, in a span that says which model it was', async () => {
    const { body } = await invoke({ messages: [...EXAMPLES, user('two words')] })
    const { spans } = (await service.get(`/traces/${body.trace_id}`)).body.trace
    const [call] = Object.values<any>(Object.values<any>(spans)[0].spans) // tests look into answers freely
    expect(call.attributes.svc.metrics.tokens.incremental).to.deep.equal({
      prompt: 9,
      completion: 2,
      total: 11,
    })
    expect(call.attributes.gen_ai).to.deep.include({ system: 'mock', request: { model: 'mock/examples' } })
  })

  it('streams word by word, the white space kept', async () => {
    const response = await fetch(service.url + PATH, {
      method: 'POST',
      headers: {
        authorization: `ApiKey ${ADMIN_KEY}`,
        'content-type': 'application/json',
        accept: 'application/x-ndjson',
      },
      body: JSON.stringify(bodyOf({ messages: [user('It  is\nso ')] })),
    })
    const records = (await response.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const deltas = records.filter(({ type }) => type === 'message_delta')
    expect(JSON.stringify(deltas.map(({ data }) => data))).to.match(/It.*  is.*\\nso.* /)
    expect(deltas).to.have.length(4)
    expect(records.at(-1).data).to.deep.equal({ outputs: 'It  is\nso ' })
  })

  it('refuses another name, and a conversation without a user, and says what there is', async () => {
    const other = await invoke({ messages: [user('Peru')], model: 'mock/gpt-9' })
    expect(other.status).to.equal(424)
    expect(other.text).to.include("The provider 'mock' has no model 'gpt-9': it has mock/examples.")
    const nobody = await invoke({ messages: [{ role: 'system', content: 'Peru' }] })
    expect(nobody.status).to.equal(424)
    expect(nobody.text).to.include('this conversation has none. Add a message with the role user.')
  })

  it('is offered where models are chosen, and by a prompt that is stored', async () => {
    const { text } = await service.get('/applications/catalog/types/model')
    expect(text).to.include('"mock":["mock/examples"]')
    const prompt = {
      messages: [...EXAMPLES, user('{{country}}')],
      llm_config: { model: 'mock/examples' },
      template_format: 'curly',
    }
    await service.post('/simple/applications', {
      application: { slug: 'capitals', template: 'completion', data: { parameters: { prompt } } },
    })
    const { body } = await service.post('/services/invoke', {
      references: { application: { slug: 'capitals' } },
      data: { inputs: { country: 'Norway' } },
    })
    expect(body.data.outputs).to.equal('Oslo')
  })
})
