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

  for (const accept of ['application/x-ndjson', 'text/event-stream', 'application/json'])
    // interface 12.16
    it(`ends the call at the provider when the client goes, and does not repeat it, with ${accept}`, async () => {
      const isWhole = accept === 'application/json'
      const since = new Date().toISOString()
      const began = new Promise<void>((begin) => {
        stub.answerNext((response) => {
          response.on('close', () => close())
          if (!isWhole) {
            response.writeHead(200, { 'content-type': 'text/event-stream' })
            response.write(event({ choices: [{ index: 0, delta: { role: 'assistant', content: 'Par' } }] }))
          }
          begin()
        })
      })
      let close = (): void => undefined
      const gone = new Promise<void>((resolve) => (close = resolve))
      const stop = new AbortController()
      const asking = fetch(`${service.url}/services/completion/v0/invoke`, {
        method: 'POST',
        headers: { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': 'application/json', accept },
        body: JSON.stringify({
          data: {
            parameters: {
              prompt: {
                messages: [{ role: 'user', content: 'Hi' }],
                retry_policy: 'any',
                retry_config: { max_retries: 3, delay_ms: 1 },
              },
            },
            inputs: {},
          },
        }),
        signal: stop.signal,
      })
      await began
      const before = stub.received.length
      if (!isWhole) await (await asking).body?.getReader().read()
      stop.abort()
      await asking.catch(() => undefined)
      await gone
      // A run that is over has a trace, and asks no more.
      const failed = { conditions: [{ field: 'status_code', value: 'STATUS_CODE_ERROR' }] }
      const over = { filtering: failed, draft: true, windowing: { oldest: since } }
      while ((await service.post('/traces/query', over)).body.count === 0)
        await new Promise((resolve) => setTimeout(resolve, 5))
      expect(stub.received).to.have.length(before)
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
    expect(body.secret).to.equal('ANTHROPIC_API_KEY')
  })

  // interface 11.19
  it('asks without a connection with the key of the provider, at the base URL that stands beside it', async () => {
    const own = await startService({ env: { HOOK_ALLOW_PRIVATE: 'true' } })
    try {
      const run = (connection?: string) =>
        own.post('/services/completion/v0/invoke', {
          data: {
            parameters: {
              prompt: {
                messages: [{ role: 'user', content: 'Hi' }],
                llm_config: { model: 'mistral/large', ...(connection === undefined ? {} : { connection }) },
              },
            },
            inputs: {},
          },
        })
      expect((await run()).body.secret).to.equal('MISTRAL_API_KEY')
      expect((await run('ours')).body).to.include({ code: 'unknown_connection', secret: 'ours' })
      const secret = { value: 'sk-of-mistral', provider: 'mistral', base_url: stub.url }
      const set = await own.put('/secrets/MISTRAL_API_KEY', { secret })
      expect(set.body.secret).to.include({ provider: 'mistral', base_url: stub.url })
      const { body: listed, text } = await own.get('/secrets')
      expect(listed.secrets[0]).to.include({
        name: 'MISTRAL_API_KEY',
        provider: 'mistral',
        base_url: stub.url,
      })
      expect(text + set.text).to.not.include('sk-of-mistral')
      const { status, body, text: whole } = await run()
      expect(status, whole).to.equal(200)
      expect(body.data.outputs).to.equal('Paris')
      expect(stub.received.at(-1)?.headers.authorization).to.equal('Bearer sk-of-mistral')
      expect(stub.received.at(-1)?.body.model).to.equal('large')
    } finally {
      await own.stop()
    }
  })

  // interface 12.15
  it('marks on each span the trace of what was run without being committed', async () => {
    const parameters = { prompt: { messages: [{ role: 'user', content: 'Hi' }] } }
    const data = { uri: 'svc:builtin:completion:v0', parameters }
    const { body: stored } = await service.post('/applications/revisions/retrieve', {
      application_ref: { slug: 'capital' },
    })
    const revision = { id: stored.application_revision.id }
    const draftOf = async (body: object, path = '/services/invoke'): Promise<unknown> => {
      const reply = await service.post(`${path}`, body)
      expect(reply.status, reply.text).to.equal(200)
      const { spans } = await traceOf(reply.body.trace_id)
      const [root] = Object.values<any>(spans) // tests look into answers freely
      const [call] = Object.values<any>(root.spans)
      expect(call.attributes.svc.draft).to.equal(root.attributes.svc.draft)
      drafts.set(reply.body.trace_id, root.attributes.svc.draft === true)
      return root.attributes.svc.draft
    }
    const drafts = new Map<string, boolean>()
    const inputs = { input: 'France' }
    const references = { application: { slug: 'capital' } }
    expect(await draftOf({ references, data: { revision: { data }, inputs } })).to.equal(true)
    expect(await draftOf({ references, data: { parameters, inputs } })).to.equal(true)
    expect(await draftOf({ data: { parameters, inputs } }, '/services/completion/v0/invoke')).to.equal(true)
    expect(await draftOf({ references, data: { inputs } })).to.equal(undefined)
    expect(await draftOf({ data: { inputs } }, `${url}/invoke`)).to.equal(undefined)
    expect(await draftOf({ data: { parameters, inputs } }, `${url}/invoke`)).to.equal(undefined)
    const named = { references: { application_revision: revision }, data: { parameters, inputs } }
    expect(await draftOf(named)).to.equal(undefined)
    expect(await draftOf({ data: { revision: { ...revision, data }, inputs } })).to.equal(undefined)
    const asked = async (body: object): Promise<string[]> => {
      const { body: answer, text } = await service.post('/traces/query', { heads_only: true, ...body })
      expect(answer, text).to.have.property('traces')
      return answer.traces
        .map((it: { trace_id: string }) => it.trace_id)
        .filter((id: string) => drafts.has(id))
    }
    const those = (isDraft: boolean) =>
      [...drafts].flatMap(([id, is]) => (is === isDraft ? id : [])).reverse()
    expect(await asked({ draft: true })).to.deep.equal(those(true))
    expect(await asked({ draft: false })).to.deep.equal(those(false))
    expect(await asked({})).to.deep.equal([...drafts.keys()].reverse())
    const filtering = { operator: 'or', conditions: [{ field: 'span_name', value: 'nothing' }] }
    expect(await asked({ draft: true, filtering })).to.deep.equal([])
    expect(await asked({ draft: true, filtering: { conditions: [] } })).to.deep.equal(those(true))
    const page = await service.post('/traces/query', { draft: false, windowing: { limit: 2 } })
    expect(page.body.windowing.next).to.be.a('string')
    expect((await service.post('/spans/query', { draft: true })).status).to.equal(422)
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
