import { expect } from 'chai'
import { openSecrets } from '../../../src/access/secrets/open-secrets.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { type ChatStub, event, refusing, startChatStub, streaming } from '../../support/servers/chat-stub.ts'
import { ADMIN_KEY, type RunningService, startService } from '../../support/servers/service.ts'

const KEY = 'sk-of-the-project-1234567890'

describe('http: invoking a prompt', () => {
  let stub: ChatStub
  let service: RunningService
  let url: string

  before(async () => {
    stub = await startChatStub()
    service = await startService({ env: { OPENAI_BASE_URL: stub.url } })
    await openSecrets(nodeFs, service.storeDir, undefined).of('default').set('OPENAI_API_KEY', KEY)
    const { body } = await service.post('/simple/applications', {
      application: { slug: 'capital', template: 'completion' },
    })
    const { body: read } = await service.get(`/applications/revisions/${body.application.revision_id}`)
    url = new URL(read.application_revision.data.url).pathname
  })
  after(async () => {
    await service.stop()
    await stub.stop()
  })

  const invoke = (inputs: object, headers?: Record<string, string>) =>
    service.post(`${url}/invoke`, { data: { inputs } }, headers)
  const streamed = async (accept: string, body: object = { data: { inputs: { input: 'France' } } }) => {
    const response = await fetch(`${service.url}${url}/invoke`, {
      method: 'POST',
      headers: { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': 'application/json', accept },
      body: JSON.stringify(body),
    })
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      text: await response.text(),
    }
  }
  const traceOf = async (id: string) => (await service.get(`/traces/${id}`)).body.trace

  it('asks the model and answers what it said', async () => {
    const { status, body, text } = await invoke({ input: 'France' })
    expect(status, text).to.equal(200)
    expect(body.data.outputs).to.equal('Paris')
    const [asked] = stub.received.slice(-1)
    expect(asked?.headers.authorization).to.equal(`Bearer ${KEY}`)
    expect(JSON.stringify(asked?.body.messages)).to.include('France')
  })

  it('leaves a trace with the call of the model inside, its tokens and its model, and no key', async () => {
    const { body } = await invoke({ input: 'France' })
    const { spans } = await traceOf(body.trace_id)
    const root = spans.completion_v0
    expect(root.attributes.svc.references.application_revision.slug).to.equal('capital-1')
    expect(root.attributes.svc.data.inputs).to.deep.equal({ inputs: { input: 'France' } })
    expect(root.attributes.svc.data.outputs).to.equal('Paris')
    const call = Object.values<any>(root.spans)[0] // tests look into answers freely
    expect(call.span_type).to.equal('chat')
    expect(call.attributes.svc.metrics.tokens.incremental).to.deep.equal({
      prompt: 11,
      completion: 7,
      total: 18,
    })
    expect(call.attributes.gen_ai.request.model).to.equal('gpt-4o-mini')
    expect(JSON.stringify(spans)).to.not.include(KEY)
  })

  // interface 12.10
  it('goes on with the trace of the caller, and tells its own in the headers', async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c'
    const { headers, body } = await invoke(
      { input: 'France' },
      { traceparent: `00-${traceId}-b7ad6b7169203331-01`, 'x-svc-session-id': 'chat-7' },
    )
    expect(body.trace_id).to.equal(traceId)
    expect(headers.get('traceparent')).to.equal(`00-${traceId}-${body.span_id}-01`)
    expect(headers.get('x-svc-trace-id')).to.equal(traceId)
    expect(headers.get('baggage')).to.equal('svc.session.id=chat-7')
    const { body: span } = await service.get(`/spans/${traceId}/${body.span_id}`)
    expect(span.span).to.include({ parent_id: 'b7ad6b7169203331', session_id: 'chat-7' })
  })

  for (const [accept, type] of [
    ['application/x-ndjson', 'application/x-ndjson; charset=utf-8'],
    ['text/event-stream', 'text/event-stream; charset=utf-8'],
  ] as const) {
    // interface 12.5
    it(`streams as ${accept} what the model says while it says it, and ends with the whole answer`, async () => {
      stub.answerNext(streaming([{ content: 'Par' }, { content: 'is' }]))
      const answer = await streamed(accept)
      expect([answer.status, answer.type]).to.deep.equal([200, type])
      const records = answer.text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line.replace(/^data: /, '')))
      expect(records.map((it) => it.type)).to.deep.equal([
        'message_start',
        'message_delta',
        'message_delta',
        'message_end',
        'usage',
        'done',
        'result',
      ])
      expect(records.at(-1)).to.deep.include({
        data: { outputs: 'Paris' },
        status: { code: 200, message: 'Success' },
      })
      const { spans } = await traceOf(records.at(-1).trace_id)
      expect(spans.completion_v0.attributes.svc.data.outputs).to.equal('Paris')
    })
  }

  it('streams by flags.stream, too; a result that is whole is one record', async () => {
    stub.answerNext(streaming([{ content: 'Par' }, { content: 'is' }]))
    const byFlag = await streamed('*/*', { flags: { stream: true }, data: { inputs: { input: 'France' } } })
    expect(byFlag.type).to.equal('application/x-ndjson; charset=utf-8')
    const response = await fetch(`${service.url}/services/auto_exact_match/v0/invoke`, {
      method: 'POST',
      headers: {
        authorization: `ApiKey ${ADMIN_KEY}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: '{"data":{"inputs":{"correct_answer":1},"outputs":1}}',
    })
    const text = await response.text()
    expect(text).to.include('data: {"type":"result"')
  })

  it('answers a failure before the first piece with its own status, one behind it as the last record', async () => {
    stub.answerNext(refusing(429, 'Slow down'))
    const early = await streamed('text/event-stream')
    expect([early.status, early.type]).to.deep.equal([424, 'application/json; charset=utf-8'])
    stub.answerNext((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(
        event({ id: 'x', choices: [{ index: 0, delta: { role: 'assistant', content: 'Par' } }] }),
      )
      setTimeout(() => response.destroy(), 20)
    })
    const late = await streamed('application/x-ndjson')
    expect(late.status).to.equal(200)
    const last = JSON.parse(late.text.trim().split('\n').at(-1) ?? '')
    expect(last).to.deep.include({ type: 'error', code: 'prompt_completion_error' })
    const { spans } = await traceOf(last.trace_id)
    expect(spans.completion_v0.status_code).to.equal('STATUS_CODE_ERROR')
  })

  it('stops asking when the client goes', async () => {
    let closed: (() => void) | undefined
    const gone = new Promise<void>((resolve) => (closed = resolve))
    stub.answerNext((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(
        event({ id: 'x', choices: [{ index: 0, delta: { role: 'assistant', content: 'Par' } }] }),
      )
      response.on('close', () => closed?.())
    })
    const stop = new AbortController()
    const response = await fetch(`${service.url}${url}/invoke`, {
      method: 'POST',
      headers: {
        authorization: `ApiKey ${ADMIN_KEY}`,
        'content-type': 'application/json',
        accept: 'application/x-ndjson',
      },
      body: JSON.stringify({ data: { inputs: { input: 'France' } } }),
      signal: stop.signal,
    })
    await response.body?.getReader().read()
    stop.abort()
    await gone
  })

  it('says which variable or secret is missing: 424', async () => {
    const { status, body } = await service.post('/services/completion/v0/invoke', {
      data: {
        parameters: {
          prompt: {
            messages: [{ role: 'user', content: 'Hi' }],
            llm_config: { model: 'anthropic/claude-sonnet-4-5' },
          },
        },
        inputs: {},
      },
    })
    expect([status, body.code]).to.deep.equal([424, 'invalid_secrets'])
    expect(body.status.message).to.include('ANTHROPIC_API_KEY').and.include('branchpoint secrets')
  })

  it('blames the request for a variable that the prompt needs and does not get', async () => {
    const { status, body } = await service.post('/services/completion/v0/invoke', {
      data: {
        parameters: { prompt: { messages: [{ role: 'user', content: 'Hi {{name}}' }] } },
        inputs: { nobody: 1 },
      },
    })
    expect([status, body.code]).to.deep.equal([400, 'prompt_formatting_error'])
    expect(body.status.message).to.include('messages[0].content').and.include('name')
  })

  it('keeps no key in clones, in answers or on the disk in the clear', async () => {
    const { text } = await service.post('/workflows/revisions/retrieve', {
      workflow_ref: { slug: 'capital' },
    })
    expect(text).to.not.include(KEY)
    const stored = nodeFs.readFile(`${service.storeDir}/default/secrets.json`)?.toString('utf8') ?? ''
    expect(stored).to.include('OPENAI_API_KEY').and.not.include(KEY)
  })
})
