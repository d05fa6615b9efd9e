import { execFileSync } from 'node:child_process'
import { expect } from 'chai'
import { type RunningService, startService } from '../../support/servers/service.ts'
import { keyWithScopes } from './key-with-scopes.ts'

describe('http: invoking a workflow', () => {
  let service: RunningService
  /** The revisions of the workflows made below, by slug. */
  const revisions = new Map<
    string,
    { readonly id: string; readonly url: string; readonly variantId: string }
  >()

  const make = async (slug: string, data: object, flags: object = { is_application: true }) => {
    const { status, text, body } = await service.post('/simple/workflows/', {
      workflow: { slug, flags, data },
    })
    expect(status, text).to.equal(200)
    const { revision_id: id } = body.workflow
    const { body: read } = await service.get(`/workflows/revisions/${id}`)
    const { workflow_variant_id: variantId, data: stored } = read.workflow_revision
    const { url } = stored
    revisions.set(slug, { id, url: url === undefined ? '' : new URL(url).pathname, variantId })
    return id as string
  }
  const urlOf = (slug: string): string => revisions.get(slug)?.url ?? ''
  const invoke = (slug: string, data: object, headers?: Record<string, string>) =>
    service.post(`${urlOf(slug)}/invoke`, { data }, headers)

  before(async () => {
    service = await startService()
    await make('echo', { uri: 'svc:custom:mock:v0', parameters: { key: 'echo' } })
    await make('strict', {
      uri: 'svc:custom:mock:v0',
      parameters: { key: 'echo' },
      schemas: {
        inputs: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
        outputs: { type: 'object', properties: { n: { type: 'integer', maximum: 9 } } },
      },
    })
    await make('exact', { uri: 'svc:builtin:auto_exact_match:v0' }, { is_evaluator: true })
    await make('config-only', { parameters: { prompt: {} } })
  })
  after(() => service.stop())

  describe('what runs', () => {
    // interface 12.1
    it("is the revision that its data.url is bound to, with the revision's parameters", async () => {
      const { status, body } = await invoke('echo', { inputs: { country: 'Peru' } })
      expect(status).to.equal(200)
      expect(body.status).to.deep.equal({ code: 200, message: 'Success' })
      expect(body.data).to.deep.equal({ outputs: { country: 'Peru' } })
    })

    it('stays that revision when another one is committed', async () => {
      await make('moving', {
        uri: 'custom:mock',
        parameters: { key: 'static', kwargs: { output: { v: 1 } } },
      })
      await service.post('/workflows/revisions/commit', {
        workflow_revision_commit: {
          workflow_variant_id: revisions.get('moving')?.variantId,
          data: { uri: 'custom:mock', parameters: { key: 'static', kwargs: { output: { v: 2 } } } },
        },
      })
      expect((await invoke('moving', {})).body.data.outputs).to.deep.equal({ v: 1 })
      const latest = await service.post('/services/invoke', { references: { workflow: { slug: 'moving' } } })
      expect(latest.body.data.outputs).to.deep.equal({ v: 2 })
    })

    it('is gone when git takes it away, though it ran before', async () => {
      await make('rewound', { uri: 'custom:mock', parameters: { key: 'pass' } })
      await service.post('/workflows/revisions/commit', {
        workflow_revision_commit: {
          workflow_variant_id: revisions.get('rewound')?.variantId,
          data: { uri: 'custom:mock', parameters: { key: 'fail' } },
        },
      })
      const { body } = await service.post('/workflows/revisions/retrieve', {
        workflow_ref: { slug: 'rewound' },
      })
      const path = new URL(body.workflow_revision.data.url).pathname
      expect((await service.post(`${path}/invoke`)).body.data.outputs.success).to.equal(false)
      const git = ['-C', service.repository('rewound'), 'update-ref', 'refs/heads/rewound', 'rewound~1']
      execFileSync('git', git)
      const gone = await service.post(`${path}/invoke`)
      expect([gone.status, gone.body.code]).to.deep.equal([404, 'revision_not_found'])
    })

    // interface 12.1
    it('is what references name, by slug, by version, through an environment', async () => {
      for (const references of [
        { application: { slug: 'echo' } },
        { workflow_variant: { slug: 'echo' } },
        { workflow_revision: { slug: 'echo', version: 1 } },
        { application_revision_ref: { slug: 'echo-1' } },
      ]) {
        const { status, text, body } = await service.post('/services/invoke', {
          references,
          data: { inputs: { a: 1 } },
        })
        expect(status, text).to.equal(200)
        expect(body.data.outputs).to.deep.equal({ a: 1 })
      }
      await service.post('/applications/revisions/deploy', {
        application_ref: { slug: 'echo' },
        environment_ref: { slug: 'production' },
      })
      for (const named of [
        { references: { environment: { slug: 'production' }, application: { slug: 'echo' } } },
        { references: { environment: { slug: 'production' } }, selector: { key: 'echo.revision' } },
        { references: { environment: { slug: 'production' } } },
      ]) {
        const { status, text } = await service.post('/services/invoke', { ...named, data: { inputs: {} } })
        expect(status, text).to.equal(200)
      }
    })

    it('names in its trace the deployment that it was found through', async () => {
      await service.post('/applications/revisions/deploy', {
        application_ref: { slug: 'echo' },
        environment_ref: { slug: 'staging' },
      })
      const environment = { environment_ref: { slug: 'staging' } }
      const deployed = await service.post('/environments/revisions/retrieve', environment)
      const { id, slug } = deployed.body.environment_revision
      const run = await service.post('/services/invoke', {
        references: { environment: { slug: 'staging' } },
        data: { inputs: {} },
      })
      const { body } = await service.get(`/traces/${run.body.trace_id}`)
      const { svc } = body.trace.spans.mock_v0.attributes
      expect(svc.selector).to.deep.equal({ key: 'echo.revision' })
      expect(svc.references.environment_revision).to.deep.equal({ id, slug, version: 1 })
      expect(svc.references.workflow_revision).to.include({ slug: 'echo-1', version: 1 })
    })

    it('is a workflow that the request brings', async () => {
      const revision = {
        data: { uri: 'svc:custom:mock:v0', parameters: { key: 'static', kwargs: { output: [1] } } },
      }
      const { body } = await service.post('/services/invoke', { data: { revision } })
      expect(body.data.outputs).to.deep.equal([1])
    })

    // interface 11.1
    it('is a handler alone, with parameters that the request brings', async () => {
      const { body } = await service.post('/services/mock/v0/invoke', {
        data: { parameters: { key: 'pass' } },
      })
      expect(body.data.outputs).to.deep.equal({ score: 1, success: true })
    })

    // interface 12.2
    it('takes the parameters of the request over those of the revision, unless they are empty', async () => {
      const own = await invoke('echo', { inputs: { a: 1 }, parameters: { key: 'fail' } })
      expect(own.body.data.outputs).to.deep.equal({ score: 0, success: false })
      const empty = await invoke('echo', { inputs: { a: 1 }, parameters: {} })
      expect(empty.body.data.outputs).to.deep.equal({ a: 1 })
    })

    // interface 12.4
    it('scores outputs', async () => {
      const right = await invoke('exact', { inputs: { correct_answer: 'Lima' }, outputs: 'Lima' })
      expect(right.body.data.outputs).to.deep.equal({ success: true })
      const wrong = await invoke('exact', { inputs: { correct_answer: 'Lima' }, outputs: 'Oslo' })
      expect(wrong.body.data.outputs).to.deep.equal({ success: false })
    })

    // interface 11.11
    it('says why a verdict is what it is, in the outputs where their schema has room and always in the span', async () => {
      const given = { inputs: { correct_answer: 5 }, outputs: '5' }
      const reason = 'The types differ: the output is the text "5", the expected output is the number 5.'
      const now = await invoke('exact', given)
      expect(now.body.data.outputs).to.deep.equal({ success: false, reason })
      // as evaluators were stored before there was a reason
      const outputs = {
        type: 'object',
        properties: { success: { type: 'boolean' } },
        required: ['success'],
        additionalProperties: false,
      }
      await make(
        'exact-of-before',
        { uri: 'svc:builtin:auto_exact_match:v0', schemas: { outputs } },
        { is_evaluator: true },
      )
      const before = await invoke('exact-of-before', given)
      expect(before.status, before.text).to.equal(200)
      expect(before.body.data.outputs).to.deep.equal({ success: false })
      for (const { body } of [now, before]) {
        const { body: traced } = await service.get(`/traces/${body.trace_id}`)
        const span = traced.trace.spans.auto_exact_match_v0
        expect([span.status_code, span.status_message]).to.deep.equal(['STATUS_CODE_OK', reason])
      }
    })

    // interface 11.12
    it('is a verdict only where it runs as an evaluator', async () => {
      const code = (answer: string) => ({
        uri: 'svc:custom:code:v0',
        runtime: 'javascript',
        script: `function evaluate() { return ${answer} }`,
      })
      const answers = [
        ['5', 5],
        ['true', true],
        ['"0.7"', '0.7'],
        ['[1]', [1]],
      ] as const
      for (const [index, [script, value]] of answers.entries()) {
        await make(`answers-${index}x`, code(script))
        expect((await invoke(`answers-${index}x`, {})).body.data.outputs).to.deep.equal(value)
      }
      const verdict = { score: 5, success: true }
      const answered = async (request: object): Promise<unknown> =>
        (await service.post('/services/invoke', request)).body.data.outputs
      await make('grader', code('5'), { is_evaluator: true })
      expect((await invoke('grader', {})).body.data.outputs).to.deep.equal(verdict)
      // of a workflow with both roles, whoever asks says which; else whether there is something to judge does
      await make('both', code('5'), { is_application: true, is_evaluator: true })
      expect(await answered({ references: { evaluator: { slug: 'both' } } })).to.deep.equal(verdict)
      expect(await answered({ references: { application: { slug: 'both' } } })).to.equal(5)
      expect(await answered({ references: { workflow: { slug: 'both' } } })).to.equal(5)
      expect(
        await answered({ references: { workflow: { slug: 'both' } }, data: { outputs: 'x' } }),
      ).to.deep.equal(verdict)
      const revision = { data: code('5') }
      expect(await answered({ data: { revision } })).to.equal(5)
      expect(await answered({ data: { revision, outputs: 'x' } })).to.deep.equal(verdict)
    })

    it('gives back what it got exactly', async () => {
      const text = '{"data":{"inputs":{"7":12345678901234567890,"__proto__":{"a":1.10}}}}'
      const { text: answer } = await service.post(`${urlOf('echo')}/invoke`, text)
      expect(answer).to.include('"outputs":{"7":12345678901234567890,"__proto__":{"a":1.10}}')
    })
  })

  describe('what it refuses', () => {
    // interface 12.3
    it('inputs that its schema does not take: 422, nothing runs', async () => {
      const { status, body } = await invoke('strict', { inputs: { n: 'x' } })
      expect(status).to.equal(422)
      expect(body.code).to.equal('invalid_inputs')
      expect(body.status.message).to.include('inputs.n must be integer')
      expect(body).to.not.have.property('data')
      expect((await invoke('strict', {})).body.status.message).to.include("required property 'n'")
    })

    // interface 12.3, 3.9
    it('outputs that its schema does not promise: 424 naming the path', async () => {
      const { status, body } = await invoke('strict', { inputs: { n: 10 } })
      expect(status).to.equal(424)
      expect(body.code).to.equal('invalid_outputs')
      expect(body.status.message).to.include('outputs.n must be <= 9')
    })

    it('a schema that cannot be used: the workflow is to blame', async () => {
      await make('dangling', {
        uri: 'svc:custom:mock:v0',
        parameters: { key: 'echo' },
        schemas: { inputs: { $ref: '#/$defs/nowhere' } },
      })
      const { status, body } = await invoke('dangling', { inputs: {} })
      expect([status, body.code]).to.deep.equal([400, 'invalid_parameters'])
      expect(body.status.message).to.include('nowhere')
    })

    for (const [what, path, request, status, code] of [
      ['nothing that says what runs', '/services/invoke', {}, 400, 'invalid_uri'],
      [
        'a workflow without a handler',
        '/services/invoke',
        { references: { workflow: { slug: 'config-only' } } },
        400,
        'invalid_uri',
      ],
      ['a handler that does not run here', '/services/agent/v0/invoke', {}, 424, 'not_implemented'],
      [
        'references to several kinds',
        '/services/invoke',
        { references: { workflow: { slug: 'echo' }, evaluator: { slug: 'exact' } } },
        400,
        'contradictory_request',
      ],
      [
        'a reference that points at nothing',
        '/services/invoke',
        { references: { workflow: { slug: 'nowhere' } } },
        404,
        'artifact_not_found',
      ],
      [
        'a reference that identifies nothing',
        '/services/invoke',
        { references: { workflow: {} } },
        400,
        'incomplete_reference',
      ],
      [
        'a name that no reference has',
        '/services/invoke',
        { references: { prompt: { slug: 'echo' } } },
        422,
        'invalid_request',
      ],
      ['a handler that is none', '/services/nothing/v0/invoke', {}, 404, 'route_not_found'],
      ['a version that is none', '/services/mock/v1/invoke', {}, 404, 'route_not_found'],
      [
        'a revision that is none',
        '/services/mock/v0/0f3c9a1b-e2d4-8000-8000-7d41c0aa93fe/invoke',
        {},
        404,
        'revision_not_found',
      ],
      [
        'inputs that are no object',
        '/services/mock/v0/invoke',
        { data: { inputs: 'x' } },
        422,
        'invalid_request',
      ],
      [
        'a brought workflow with an unknown key',
        '/services/invoke',
        { data: { revision: { data: { uri: 'chat', colour: 1 } } } },
        422,
        'unknown_field',
      ],
      [
        'links that are no span',
        '/services/mock/v0/invoke',
        { links: { invocation: { trace_id: 'x', span_id: 'y' } } },
        422,
        'invalid_request',
      ],
    ] as const) {
      // interface 11.2, 12.4
      it(`${what}: ${status} ${code}`, async () => {
        const { status: answered, body, text } = await service.post(path, request)
        expect([answered, body.code], text).to.deep.equal([status, code])
      })
    }

    for (const [what, path, request, sentence] of [
      ['a version that is none', '/services/mock/v1/invoke', {}, 'no version "v1"'],
      ['nothing that says what runs', '/services/invoke', {}, 'send references'],
      [
        'a workflow whose handler is nowhere',
        '/services/invoke',
        { data: { revision: { data: { uri: 'mine:custom:bot:v0' } } } },
        'set its data.url',
      ],
      [
        'a reference that identifies nothing',
        '/services/invoke',
        { references: { application_variant: {} } },
        'references.application_variant identifies nothing',
      ],
      [
        'an environment that identifies nothing',
        '/services/invoke',
        { references: { environment: {}, application: { slug: 'echo' } } },
        'references.environment identifies nothing',
      ],
      [
        'a version of nothing',
        '/services/invoke',
        { references: { evaluator_revision: { version: 1 } } },
        'references.evaluator_revision identifies nothing',
      ],
      [
        'a workflow that an inspection brings',
        '/services/inspect',
        { revision: { data: { uri: 'nothing' } } },
        'body.revision.data.uri',
      ],
      [
        'an embed in parameters of the request',
        '/services/mock/v0/invoke',
        { data: { parameters: { key: '@{{workflow.slug=gone, path=x}}' } } },
        'data.parameters.key embeds',
      ],
      [
        'an embed in place of the parameters',
        '/services/mock/v0/invoke',
        {
          data: {
            parameters: {
              '@svc.embed': {
                '@svc.references': { workflow: { slug: 'echo' } },
                '@svc.selector': { path: 'parameters.key' },
              },
            },
          },
        },
        "Invalid parameters:\nExpected 'dict'",
      ],
    ] as const) {
      it(`${what}, by the names that the request has for it`, async () => {
        const { body } = await service.post(path, request)
        expect(body.detail ?? body.status.message).to.include(sentence)
      })
    }

    it('a version beside the artifact that it is of is no reference to nothing', async () => {
      const references = { workflow: { slug: 'echo' }, workflow_revision: { version: 1 } }
      const { status, text } = await service.post('/services/invoke', { references, data: { inputs: {} } })
      expect(status, text).to.equal(200)
    })

    it('a revision at the address of another handler', async () => {
      const { status, body } = await service.post(`/services/chat/v0/${revisions.get('echo')?.id}/invoke`, {})
      expect([status, body.code]).to.deep.equal([400, 'contradictory_request'])
    })

    // interface 12.1, 3.4
    it('a key without the scope invoke', async () => {
      const read = await keyWithScopes(service, ['read', 'write'])
      expect((await invoke('echo', {}, read)).status).to.equal(403)
      const runs = await keyWithScopes(service, ['invoke'])
      expect((await invoke('echo', {}, runs)).status).to.equal(200)
    })
  })

  describe('headers', () => {
    const flagsTold = async (flags: object, headers: Record<string, string>) => {
      const { body } = await service.post(`${urlOf('echo')}/invoke`, { flags }, headers)
      const { body: read } = await service.get(`/traces/${body.trace_id}`)
      return read.trace.spans.mock_v0.attributes.svc.flags
    }

    it('set flags that the body does not', async () => {
      const headers = { 'x-svc-messages-transcript': 'last', 'x-svc-session-control': 'force' }
      expect(await flagsTold({}, headers)).to.deep.equal({ trim: true, force: true })
      expect(await flagsTold({ trim: false, mine: 1 }, headers)).to.deep.equal({
        trim: false,
        mine: 1,
        force: true,
      })
      expect(await flagsTold({}, { 'x-svc-messages-transcript': 'half' })).to.equal(undefined)
      const odd = await flagsTold(JSON.parse('{"__proto__":{"x":1},"mine":1}'), headers)
      expect(JSON.stringify(odd)).to.equal('{"__proto__":{"x":1},"mine":1,"trim":true,"force":true}')
    })
  })

  describe('what it embeds', () => {
    before(async () => {
      await make('tone', { parameters: { voice: 'calm' } }, { is_snippet: true })
      await make('greeter', {
        uri: 'svc:custom:mock:v0',
        parameters: {
          key: 'static',
          kwargs: { output: { said: 'Be @{{workflow.slug=tone, path=voice}}.' } },
        },
      })
    })

    // interface 12.2
    it('is put in its place before it runs, unless flags.resolve is false', async () => {
      expect((await invoke('greeter', {})).body.data.outputs).to.deep.equal({ said: 'Be calm.' })
      const { body } = await service.post(`${urlOf('greeter')}/invoke`, { flags: { resolve: false } })
      expect(body.data.outputs.said).to.include('@{{')
    })

    it('is no way to read for a key that may only invoke', async () => {
      const runs = await keyWithScopes(service, ['invoke'])
      const parameters = {
        key: 'static',
        kwargs: { output: { said: '@{{workflow.slug=tone, path=voice}}' } },
      }
      const asked = { data: { parameters } }
      expect((await service.post('/services/mock/v0/invoke', asked)).body.data.outputs.said).to.equal('calm')
      const refused = await service.post('/services/mock/v0/invoke', asked, runs)
      expect([refused.status, refused.body.code]).to.deep.equal([403, 'missing_scope'])
      expect((await invoke('greeter', {}, runs)).status, 'what is stored may embed').to.equal(200)
    })

    it('that points at nothing is refused as everywhere', async () => {
      await make('broken', {
        uri: 'svc:custom:mock:v0',
        parameters: { key: 'static', kwargs: { output: '@{{workflow.slug=gone, path=x}}' } },
      })
      const { status, body } = await invoke('broken', {})
      expect([status, body.code]).to.deep.equal([404, 'embed_not_found'])
    })
  })

  describe('health', () => {
    // interface 12.7
    it('is open at the addresses of handlers, and asks for a key at that of a revision', async () => {
      for (const path of ['/services/health', '/services/chat/v0/health']) {
        const answer = await fetch(service.url + path)
        expect([answer.status, await answer.text()]).to.deep.equal([200, '{"status":"ok"}'])
      }
      expect((await service.get(`${urlOf('echo')}/health`)).body).to.deep.equal({ status: 'ok' })
      expect((await fetch(`${service.url}${urlOf('echo')}/health`)).status).to.equal(401)
      const gone = await service.get('/services/mock/v0/0f3c9a1b-e2d4-8000-8000-7d41c0aa93fe/health')
      expect([gone.status, gone.body.code]).to.deep.equal([404, 'revision_not_found'])
    })
  })

  describe('inspect', () => {
    // interface 12.6
    it('tells what a revision takes, with a request that invokes it', async () => {
      const { status, body } = await service.post(`${urlOf('strict')}/inspect`)
      expect(status).to.equal(200)
      expect(body.revision).to.include({ slug: 'strict-1', version: 1 })
      expect(body.revision.data.schemas.inputs.required).to.deep.equal(['n'])
      expect(new URL(body.revision.data.url).pathname).to.equal(urlOf('strict'))
      const again = await service.post('/services/invoke', {
        data: { ...body.request.data, inputs: { n: 1 } },
      })
      expect(again.body.data.outputs).to.deep.equal({ n: 1 })
    })

    it('warns of what every run would fail with: bounds, templates, models, its own schema', async () => {
      const warned = async (prompt: object, schemas?: object): Promise<string[]> => {
        const data = { uri: 'svc:builtin:completion:v0', parameters: { prompt }, schemas }
        const { status, body } = await service.post('/services/inspect', { revision: { data } })
        expect(status, JSON.stringify(body)).to.equal(200)
        return (body.warnings ?? []).map(
          ({ code, target }: { code: string; target: string[] }) => `${code} ${target.join('.')}`,
        )
      }
      const user = (content: unknown): object[] => [{ role: 'user', content }]
      const usual = { llm_config: { model: 'mock/examples', temperature: 2 } }
      expect(await warned({ ...usual, messages: user('{{name}} {% if') })).to.deep.equal([])
      const placed = 'parameters.prompt'
      expect(
        await warned({ llm_config: { model: 'mock/examples', temperature: 2.5 }, messages: [] }),
      ).to.deep.equal([`invalid_parameter ${placed}.llm_config.temperature`])
      for (const [format, text] of [
        ['jinja2', '{% if x %}'],
        ['jinja2', '{% if x %}{{ x | nofilter }}{% endif %}'],
        ['jinja2', '{{ 1 is notest }}'],
        ['mustache', '{{#a}}'],
        ['mustache', '{{> part}}'],
        ['fstring', 'a { b'],
        ['fstring', '{a.b}'],
      ]) {
        const found = await warned({ ...usual, template_format: format, messages: user(text) })
        expect(found, text).to.deep.equal([`unreadable_template ${placed}.messages.0.content`])
      }
      const parts = user([{ type: 'text', text: '{{ x' }])
      expect(await warned({ ...usual, template_format: 'jinja2', messages: parts })).to.deep.equal([
        `unreadable_template ${placed}.messages.0.content.0.text`,
      ])
      for (const [format, text] of [
        ['jinja2', '{% if x is defined and x | length > 2 %}{{ x | upper }}{% endif %}'],
        ['mustache', '{{#a}}{{b}}{{/a}}'],
        ['fstring', '{a[b][0]!r:>{width}} {{}}'],
      ]) {
        expect(await warned({ ...usual, template_format: format, messages: user(text) }), text).to.deep.equal(
          [],
        )
      }
      for (const model of ['mega/model-1', 'mock/nothing', 'openai/', 'groq/../x', 'nobody-has-this'])
        expect(await warned({ llm_config: { model }, messages: [] }), model).to.deep.equal([
          `unknown_model ${placed}.llm_config.model`,
        ])
      for (const model of ['gpt-99', 'groq/anything', 'o3'])
        expect(await warned({ llm_config: { model }, messages: [] }), model).to.deep.equal([
          `missing_api_key ${placed}.llm_config.model`,
        ])
      const schema = { title: '{{ x', properties: { '{{ y': { description: ['{{ fine }}', '{% if z %}'] } } }
      const response_format = { type: 'json_schema', json_schema: { name: '{{name}}', schema } }
      const answers = {
        template_format: 'jinja2',
        messages: user('{{ fine }}'),
        llm_config: { ...usual.llm_config, response_format },
        fallback_configs: [
          { model: 'mock/examples', response_format: { ...response_format, json_schema: { name: '{{' } } },
        ],
      }
      const inside = 'response_format.json_schema'
      expect(await warned(answers)).to.deep.equal([
        `unreadable_template ${placed}.llm_config.${inside}.schema.title`,
        `unreadable_template ${placed}.llm_config.${inside}.schema.properties.{{ y`,
        `unreadable_template ${placed}.llm_config.${inside}.schema.properties.{{ y.description.1`,
        `unreadable_template ${placed}.fallback_configs.0.${inside}.name`,
      ])
      const parameters = { type: 'object', properties: { prompt: { type: 'object', required: ['owner'] } } }
      expect(await warned({ ...usual, messages: [] }, { parameters })).to.deep.equal([
        'schema_violation parameters',
      ])
    })

    it('warns of models without a key, and of connections that are not there or lead nowhere', async () => {
      const warned = async (llm_config: object): Promise<object[]> => {
        const data = {
          uri: 'svc:builtin:completion:v0',
          parameters: { prompt: { messages: [], llm_config } },
        }
        const { status, body } = await service.post('/services/inspect', { revision: { data } })
        expect(status, JSON.stringify(body)).to.equal(200)
        return (body.warnings ?? []).map(({ code, message }: { code: string; message: string }) => ({
          code,
          message,
        }))
      }
      const store = async (name: string, secret: object): Promise<void> => {
        expect((await service.put(`/secrets/${name}`, { secret })).status).to.equal(200)
      }
      const codes = async (llm_config: object): Promise<string[]> =>
        (await warned(llm_config)).map((it) => (it as { code: string }).code)
      expect(await codes({ model: 'mistral/large' })).to.deep.equal(['missing_api_key'])
      await store('MISTRAL_API_KEY', { value: 'k' })
      expect(await codes({ model: 'mistral/large' })).to.deep.equal([])
      await store('mine', { value: 'k', provider: 'groq' })
      await store('house', { value: 'k', provider: 'our-own', base_url: 'https://models.example.org/v1' })
      await store('lost', { value: 'k', provider: 'our-own' })
      expect(await codes({ model: 'anything', connection: 'mine' })).to.deep.equal([])
      expect(await codes({ model: 'anything', connection: 'house' })).to.deep.equal([])
      expect(await codes({ model: 'anthropic/x', connection: 'mine' })).to.deep.equal(['unusable_connection'])
      expect(await codes({ model: 'anything', connection: 'lost' })).to.deep.equal(['unusable_connection'])
      // Whoever may only read does not learn here which connections there are.
      expect(await warned({ model: 'anything', connection: 'yours' })).to.deep.equal([
        {
          code: 'unknown_connection',
          message:
            "There is no connection 'yours'. Store a secret of this name with its provider, or name another connection.",
        },
      ])
    })

    it('tells what a handler takes', async () => {
      const { body } = await service.post('/services/auto_regex_test/v0/inspect')
      expect(body.revision.data.uri).to.equal('svc:builtin:auto_regex_test:v0')
      expect(body.revision.data.schemas.parameters.required).to.deep.equal(['regex_pattern'])
    })
  })
})
