import { expect } from 'chai'
import { readApiDocument } from '../../support/clients/api-document.ts'
import { keyWithScopes } from '../invocation/key-with-scopes.ts'
import type { RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import type { Asked, Marked } from './asked-without-read.ts'
import { askedOf, MARK, marked, SURFACES } from './asked-without-read.ts'

/** Operations that a key without `read` may call and that tell nothing of a project. */
const OPEN = /^GET \/(?:\w+\/catalog\/|simple\/\w+\/templates$)/

describe('a key without the scope read', () => {
  let service: RunningService
  const things = new Map<string, Marked>()
  let running: Asked[] = []
  let trace = ''
  let annotation = ''
  let names = 0
  const unused = (): string => `new.${++names}`

  before(async () => {
    service = await startService()
    for (const surface of SURFACES)
      things.set(surface.singular, await marked(service, surface, surface.singular))
    running = await prepareRuns()
    await service.post('/workflows', { workflow: { slug: `${MARK}.apart`, name: MARK, folder: 'apart' } })
  })
  after(() => service.stop())

  for (const scope of ['annotate', 'write', 'deploy', 'invoke'] as const) {
    // interface 2.4
    it(`sees nothing that is stored, whatever the scope ${scope} lets it ask`, async () => {
      const { operations } = await readApiDocument(service.url)
      const open = operations.filter(
        ({ scopes, method, path }) => scopes.includes(scope) && !OPEN.test(`${method} ${path}`),
      )
      const headers = await keyWithScopes(service, [scope])
      const asked: Asked[] = [
        ...SURFACES.flatMap((surface) => {
          const it = things.get(surface.singular)
          return it ? askedOf(surface, it, unused) : []
        }),
        ...running,
        {
          operation: 'POST /annotations',
          method: 'POST',
          path: '/annotations',
          body: { annotation: { trace_id: trace, data: { outputs: { approved: true } } } },
        },
        { operation: 'DELETE /annotations/{id}', method: 'DELETE', path: `/annotations/${annotation}` },
        { operation: 'DELETE /traces/{id}', method: 'DELETE', path: `/traces/${trace}` },
        {
          operation: 'POST /folders/move',
          method: 'POST',
          path: '/folders/move',
          body: { from: 'apart', to: 'elsewhere' },
        },
      ]
      const done = new Set<string>()
      const shown: string[] = []
      for (const { operation, method, path, body, headers: own, refused } of asked) {
        const key: Readonly<Record<string, string>> =
          method === 'POST' ? { 'idempotency-key': `${scope} ${++names}` } : {}
        // Said again, it is answered from where the result is.
        for (let time = 1; time <= 2; time++) {
          const reply = await service.call(method, path, body, { ...headers, ...own, ...key })
          expect(reply.status, `${operation}: ${reply.text}`).to.be.below(500)
          if (reply.status === 403 && !open.some((it) => `${it.method} ${it.path}` === operation)) continue
          if (reply.status < 300 || reply.status === 424 || refused === reply.status) done.add(operation)
          const all = JSON.stringify([...reply.headers]) + reply.text
          if (all.includes(MARK))
            shown.push(`${operation} ${JSON.stringify(body)}: ${reply.status} ${reply.text}`)
        }
      }
      expect(shown).to.deep.equal([])
      // Whoever adds a route that lets such a key in adds it here.
      expect(
        open.map(({ method, path }) => `${method} ${path}`).filter((name) => !done.has(name)),
      ).to.deep.equal([])
    })
  }

  it('is told which thing it wrote, and when', async () => {
    const headers = await keyWithScopes(service, ['write'])
    const { body } = await service.post(
      '/workflows/revisions/commit',
      { workflow_revision: { variant_id: things.get('workflow')?.variant, message: 'Mine', data: {} } },
      headers,
    )
    const { workflow_revision: told } = body
    expect(told).to.include({ workflow_variant_id: things.get('workflow')?.variant })
    expect(told).to.include.keys('id', 'slug', 'version', 'date', 'created_at')
    expect(told).to.not.have.any.keys('data', 'message', 'author', 'flags')
  })

  it('is shown everything once it may read as well', async () => {
    const headers = await keyWithScopes(service, ['write', 'read'])
    const { text } = await service.post(
      `/workflows/revisions/${things.get('workflow')?.revision}/archive`,
      {},
      headers,
    )
    expect(text).to.include(MARK)
  })

  /** What may be invoked: what a run puts out is for whoever may run it, and what it is made of is not. */
  async function prepareRuns(): Promise<Asked[]> {
    const create = async (singular: string, slug: string, data: object) => {
      const { body } = await service.post(`/simple/${singular}s`, { [singular]: { slug, name: MARK, data } })
      return body[singular]
    }
    const code = (script: string) => ({
      uri: 'svc:custom:code:v0',
      runtime: 'javascript',
      script: `// ${MARK}\n${script}`,
      parameters: { secret: MARK, version: '3' },
    })
    const good = await create('application', 'good', code('export function evaluate() { return { n: 1 } }'))
    const bad = await create('application', 'bad', code('export function evaluate() { return none.such }'))
    const prompt = await create('application', 'prompt', {
      uri: 'svc:builtin:completion:v0',
      parameters: {
        prompt: {
          messages: [{ role: 'user', content: `${MARK} {{missing}}` }],
          template_format: 'curly',
          llm_config: { model: 'mock' },
        },
      },
    })
    await create('evaluator', 'judge', {
      uri: 'svc:builtin:auto_exact_match:v0',
      parameters: { correct_answer_key: 'n' },
    })
    await service.post('/simple/testsets', {
      testset: { slug: 'rows', data: { testcases: [{ data: { n: MARK } }] } },
    })
    const order = {
      testset_ref: { slug: 'rows' },
      application_ref: { slug: 'good' },
      evaluator_refs: [{ slug: 'judge' }],
    }
    const { body: run } = await service.post('/services/invoke', {
      references: { application: { slug: 'good' } },
    })
    trace = run.trace_id
    const { body: said } = await service.post('/annotations', {
      annotation: { trace_id: trace, data: { outputs: { comment: MARK } } },
    })
    annotation = said.annotation.id
    const { body: evaluated } = await service.post('/evaluations/run', order)
    const { id } = evaluated.evaluation
    const { body: rows } = await service.post(`/evaluations/${id}/results`)
    const testcaseIds = rows.results.map((it: { testcase_id: string }) => it.testcase_id)
    const post = (operation: string, path: string, body: object = {}): Asked => ({
      operation: `POST ${operation}`,
      method: 'POST',
      path,
      body,
    })
    return [
      ...[good, bad, prompt].map((it) =>
        post('/services/{key}/{version}/{id}/invoke', new URL(`${it.data.url}/invoke`).pathname),
      ),
      {
        operation: 'GET /services/{key}/{version}/{id}/health',
        method: 'GET',
        path: new URL(`${good.data.url}/health`).pathname,
      },
      ...['good', 'bad', 'prompt'].map((slug) =>
        post('/services/invoke', '/services/invoke', { references: { application: { slug } } }),
      ),
      post('/services/{key}/{version}/invoke', '/services/auto_exact_match/v0/invoke', {
        data: { inputs: { correct_answer: 'a' }, outputs: 'a', parameters: {} },
      }),
      post('/evaluations/run', '/evaluations/run', order),
      post('/evaluations/{id}/judge', `/evaluations/${id}/judge`, { evaluator_refs: [{ slug: 'judge' }] }),
      post('/evaluations/{id}/rerun', `/evaluations/${id}/rerun`, { testcase_ids: testcaseIds }),
      { ...post('/evaluations/{id}/resume', `/evaluations/${id}/resume`), refused: 400 },
      post('/evaluations/{id}/stop', `/evaluations/${id}/stop`),
      { operation: 'GET /evaluations/{id}', method: 'GET', path: `/evaluations/${id}` },
    ]
  }
})
