import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { withMembers } from '../../support/clients/api-document.ts'
import { gitBytes } from '../../support/git/git-program.ts'
import { ADMIN_KEY, startService } from '../../support/servers/service.ts'
import { allEndpoints } from '../../../src/http/endpoints/all-endpoints.ts'
import { deliveryEndpoints } from '../../../src/http/endpoints/delivery-endpoints.ts'
import { traceEndpoints } from '../../../src/http/endpoints/traces/trace-endpoints.ts'
import { webhookEndpoints } from '../../../src/http/endpoints/webhook-endpoints.ts'
import { surfaceContext } from '../../../src/http/surface-context.ts'
import { workflowSurfaces } from '../../../src/run/handlers/workflows.ts'
import { surfacesOf } from '../../../src/registry/families/surfaces.ts'
import { testedSurfaces } from '../conformance/tested-surface.ts'

interface Operation {
  readonly operationId?: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly requestBody?: { readonly content: object }
  readonly responses: Readonly<Record<string, { readonly content: object }>>
}

describe('GET /openapi.json', () => {
  let text: string
  let operations: ReadonlyMap<string, Operation>
  before(async () => {
    const service = await startService()
    const reply = await service.get('/openapi.json')
    text = reply.text
    const paths = Object.entries<Record<string, Operation>>(reply.body.paths)
    operations = new Map(
      paths.flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, it]) => [`${method.toUpperCase()} ${path}`, it] as const),
      ),
    )
    await service.stop()
  })

  it('has the routes that docs/api.md lists for each surface, those that are of none, and no others', () => {
    expect([...operations.keys()]).to.have.members(documentedRoutes(readFileSync('docs/api.md', 'utf8')))
  })

  it('gives every operation an id of its own, and a tag', () => {
    const named = [...operations.values()].filter(({ tags }) => !tags.includes('service'))
    const ids = named.map(({ operationId }) => operationId)
    expect(ids).to.not.include(undefined)
    expect(new Set(ids).size).to.equal(ids.length)
    for (const { tags } of operations.values()) expect(tags).to.have.length(1)
  })

  it('says of git over HTTP what its door takes and answers', async () => {
    const service = await startService()
    await service.post('/simple/workflows/', { workflow: { slug: 'bot', data: { parameters: {} } } })
    const ask = async (route: string, address: string, send?: string | Buffer): Promise<unknown> => {
      const { requestBody, responses } = operations.get(route) ?? expect.fail(route)
      const [type = ''] = Object.keys(requestBody?.content ?? {})
      const response = await fetch(`${service.url}/git/workflows/bot.git${address}`, {
        method: route.split(' ')[0] ?? '',
        headers: { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': type },
        body: send ?? null,
      })
      const text = await response.text()
      expect(response.status, `${route}: ${text}`).to.equal(200)
      const [answered = ''] = (response.headers.get('content-type') ?? '').split(';')
      expect(Object.keys(responses[200]?.content ?? {}), route).to.include(answered)
      return answered.endsWith('json') ? JSON.parse(text) : undefined
    }
    try {
      const path = '/git/{family}/{slug}.git'
      for (const name of ['git-upload-pack', 'git-receive-pack'])
        await ask(`GET ${path}/info/refs`, `/info/refs?service=${name}`)
      await ask(`POST ${path}/git-upload-pack`, '/git-upload-pack', '0000')
      await ask(`POST ${path}/git-receive-pack`, '/git-receive-pack', '0000')
      const bundle = gitBytes(service.repository('bot'), ['bundle', 'create', '-q', '-', '--all'])
      const answer = await ask(`PUT ${path}`, '?head=refs/heads/bot', bundle)
      expect(answer).to.deep.equal({ count: 1, outcome: 'there' })
    } finally {
      await service.stop()
    }
  })

  it('refers to nothing that it does not hold', () => {
    const { components } = JSON.parse(text)
    const references = new Set([...text.matchAll(/"\$ref":"([^"]*)"/g)].map(([, target = '']) => target))
    for (const target of references) {
      const [, kind = '', name = ''] = /^#\/components\/(\w+)\/(\w+)$/.exec(target) ?? expect.fail(target)
      expect(components[kind], target).to.have.property(name)
    }
    for (const { singular } of testedSurfaces) {
      const record = singular[0]?.toUpperCase() + singular.slice(1)
      expect(components.schemas).to.include.keys(
        record,
        `${record}Variant`,
        `${record}Revision`,
        `Simple${record}`,
      )
    }
  })

  it('shows one name of each member, says what is required, and what keys may ask', () => {
    const { paths, components } = withMembers(JSON.parse(text))
    const commit = paths['/applications/revisions/commit'].post
    const { schema } = commit.requestBody.content['application/json']
    expect(schema.required).to.deep.equal(['application_revision_commit'])
    expect(schema.properties).to.not.include.keys('workflow_revision_commit', 'application_revision')
    const member = schema.properties.application_revision_commit
    expect(member.description).to.include('`application_revision`').and.not.include('workflow_')
    expect(member.properties).to.include.keys('application_variant_id', 'message', 'data')
    expect(member.properties).to.not.include.keys('variant_id', 'workflow_variant_id', '')
    expect(commit.security).to.deep.equal([
      { ApiKey: ['write'] },
      { Bearer: ['write'] },
      { KeyHeader: ['write'] },
    ])
    expect(commit.parameters).to.deep.equal([{ $ref: '#/components/parameters/IdempotencyKey' }])
    expect(components.parameters.IdempotencyKey).to.include({ in: 'header', name: 'Idempotency-Key' })
    expect(text).to.not.include('x-spelling-of')
  })

  it('refers to nothing that it does not hold, and names nothing that nobody refers to', () => {
    const { components } = JSON.parse(text)
    const referred = new Set([...text.matchAll(/"#\/components\/(\w+\/\w+)"/g)].map(([, name = '']) => name))
    const held = ['schemas', 'parameters', 'responses'].flatMap((kind) =>
      Object.keys(components[kind]).map((name) => `${kind}/${name}`),
    )
    expect(held).to.include.members([...referred])
    // What a key without `read` is answered, the description of the whole names.
    expect(held.filter((name) => !referred.has(name))).to.deep.equal(['schemas/WithheldAnswer'])
  })

  it('has no summary with a wrong article', () => {
    expect([...operations.values()].filter(({ summary }) => / a [aeiou]/.test(summary))).to.deep.equal([])
  })

  it('says how what runs is asked for, and may answer', () => {
    const { paths, components } = JSON.parse(text)
    for (const path of ['/services/invoke', '/services/{key}/{version}/{id}/invoke', '/evaluations/run']) {
      const { responses } = paths[path].post
      const { $ref } = responses[200]
      const answer = $ref ? components.responses[$ref.split('/').at(-1)] : responses[200]
      const types = Object.keys(answer.content)
      expect(types, path).to.deep.equal(['application/json', 'text/event-stream', 'application/x-ndjson'])
    }
    const { requestBody, responses } = paths['/services/invoke'].post
    const { schema: sent, example } = requestBody.content['application/json']
    const whole = (it: any) => (it.$ref ? components.schemas[it.$ref.split('/').at(-1)] : it)
    const schema = whole(sent)
    expect(whole(schema.properties.references).description).to.include('_revision')
    expect(whole(schema.properties.links).description).to.include('trace_id')
    expect(example.references.evaluator.slug).to.equal('exact')
    expect(responses.default.content).to.include.keys('application/json', 'application/problem+json')
    expect(responses.default.content['application/json'].schema.properties).to.include.keys(
      'status',
      'trace_id',
    )
  })

  it('shows examples that may be sent', () => {
    const settings = {
      servicesBase: 'http://localhost/services',
      gitBase: 'http://localhost/git',
      versionType: 'number',
      authorType: 'text',
      contradictions: 'warned',
      searchOf: () => expect.fail(),
      namesOf: () => expect.fail(),
      isExisting: false,
    } as const
    const limits = { testsets: { maxRows: 10, maxRowBytes: 1000, maxColumns: 10 } }
    const surfaces = surfacesOf(workflowSurfaces, limits)
    const contexts = surfaces.map((surface) => surfaceContext(surface, surfaces, settings))
    // An example is only looked at, so nobody asks for the webhooks or the traces of a project.
    const none = () => expect.fail()
    const others = [
      ...webhookEndpoints(none),
      ...deliveryEndpoints(none),
      ...traceEndpoints({ tracesOf: none, annotationsOf: none, namesOf: none }),
    ]
    const shown = [...allEndpoints(contexts, limits), ...others].filter(({ example }) => example)
    expect(shown.length).to.be.greaterThan(testedSurfaces.length)
    for (const { method, path, input, example } of shown)
      expect(input?.safeParse(example).error, `${method} ${path}`).to.equal(undefined)
    for (const { family, example } of surfaces)
      family.accept(JSON.parse(JSON.stringify(example)), { loc: ['example'], servicesBase: '' })
  })
})

/** The routes in the tables of a page: `X` stands for each surface that the row names. */
function documentedRoutes(page: string): string[] {
  return [...page.matchAll(ROW)].flatMap(([, route = '', surfaces = '']) => {
    if (!/\/X(?:\/|$)/.test(route)) return [route]
    const named = surfaces.split(',').map((surface) => surface.trim())
    return testedSurfaces
      .filter(({ path }) => named.includes('all') || named.includes(path))
      .map(({ path }) => route.replace('X', path))
  })
}

const ROW = /^\| `([A-Z]+ \/[^`]*)` +\|([^|]*)\|/gm
