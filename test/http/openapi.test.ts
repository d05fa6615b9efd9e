import { expect } from 'chai'
import { allEndpoints } from '../../src/http/endpoints/all-endpoints.ts'
import { deliveryEndpoints } from '../../src/http/endpoints/delivery-endpoints.ts'
import { traceEndpoints } from '../../src/http/endpoints/trace-endpoints.ts'
import { webhookEndpoints } from '../../src/http/endpoints/webhook-endpoints.ts'
import { surfaceContext } from '../../src/http/surface-context.ts'
import { surfacesOf } from '../../src/resources/surfaces.ts'
import { startService } from '../service.ts'
import { environments, workflows } from './conformance/tested-family.ts'
import { testedSurfaces } from './conformance/tested-surface.ts'

/** What every surface answers, below its path and below `/simple/<path>` (interface 4, rulings 2 and 3.16). */
const ROUTES = [
  'POST /X',
  'GET /X/{id}',
  'PUT /X/{id}',
  'POST /X/{id}/archive',
  'POST /X/{id}/unarchive',
  'POST /X/query',
  'POST /X/variants',
  'GET /X/variants/{id}',
  'PUT /X/variants/{id}',
  'POST /X/variants/{id}/archive',
  'POST /X/variants/{id}/unarchive',
  'POST /X/variants/query',
  'POST /X/variants/fork',
  'POST /X/revisions',
  'POST /X/revisions/commit',
  'POST /X/revisions/retrieve',
  'GET /X/revisions/retrieve',
  'GET /X/revisions/{id}',
  'GET /X/revisions/{id}/provenance',
  'POST /X/revisions/{id}/archive',
  'POST /X/revisions/{id}/unarchive',
  'POST /X/revisions/query',
  'POST /X/revisions/log',
  'POST /X/revisions/diff',
  'POST /X/revisions/dependents',
  'POST /simple/X',
  'GET /simple/X/{id}',
  'PUT /simple/X/{id}',
  'POST /simple/X/{id}/archive',
  'POST /simple/X/{id}/unarchive',
  'POST /simple/X/query',
]

/** What is one surface's, or nobody's. */
const OWN_ROUTES = [
  'POST /variants/fork',
  'POST /simple/testsets/upload',
  'POST /simple/testsets/{id}/upload',
  'POST /testsets/revisions/{id}/upload',
  'GET /simple/testsets/{id}/download',
  'POST /simple/testsets/{id}/download',
  'GET /testsets/revisions/{id}/download',
  'POST /testsets/revisions/{id}/download',
  'GET /testcases/{id}',
  'GET /testcases',
  'POST /testcases/query',
  'POST /simple/environments/{id}/guard',
  'POST /simple/environments/{id}/unguard',
  'POST /webhooks',
  'GET /webhooks/{id}',
  'PUT /webhooks/{id}',
  'POST /webhooks/query',
  'POST /webhooks/{id}/archive',
  'POST /webhooks/{id}/unarchive',
  'POST /webhooks/{id}/rotate',
  'POST /webhooks/{id}/test',
  'POST /webhooks/{id}/deliveries/query',
  'GET /webhooks/deliveries/{id}',
  'POST /webhooks/deliveries/{id}/redeliver',
  'POST /traces/query',
  'GET /traces',
  'GET /traces/{id}',
  'DELETE /traces/{id}',
  'POST /spans/query',
  'GET /spans/{trace_id}/{span_id}',
  'GET /health',
  'GET /ready',
  'GET /openapi.json',
  'GET /docs',
]

interface Operation {
  readonly operationId?: string
  readonly tags: readonly string[]
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

  it('names the same routes for every surface, those that are one’s own, and no others', () => {
    const ofSurfaces = testedSurfaces.flatMap(({ path, family }) => [
      ...ROUTES.map((route) => route.replace('X', path)),
      ...(family === workflows ? [`POST /${path}/revisions/deploy`] : []),
      ...(family === workflows || family === environments ? [`POST /${path}/revisions/resolve`] : []),
    ])
    expect([...operations.keys()]).to.have.members([...ofSurfaces, ...OWN_ROUTES])
  })

  it('gives every operation an id of its own, and a tag', () => {
    const named = [...operations.values()].filter(({ tags }) => !tags.includes('service'))
    const ids = named.map(({ operationId }) => operationId)
    expect(ids).to.not.include(undefined)
    expect(new Set(ids).size).to.equal(ids.length)
    for (const { tags } of operations.values()) expect(tags).to.have.length(1)
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

  it('shows examples that may be sent', () => {
    const settings = {
      servicesBase: 'http://localhost/services',
      gitBase: 'http://localhost/git',
      versionType: 'number',
    } as const
    const limits = { testsets: { maxRows: 10, maxRowBytes: 1000, maxColumns: 10 } }
    const surfaces = surfacesOf(limits)
    const contexts = surfaces.map((surface) => surfaceContext(surface, surfaces, settings))
    // An example is only looked at, so nobody asks for the webhooks or the traces of a project.
    const others = [webhookEndpoints, deliveryEndpoints, traceEndpoints].flatMap((make) =>
      make(() => expect.fail()),
    )
    const shown = [...allEndpoints(contexts, limits), ...others].filter(({ example }) => example)
    expect(shown.length).to.be.greaterThan(testedSurfaces.length)
    for (const { method, path, input, example } of shown)
      expect(input?.safeParse(example).error, `${method} ${path}`).to.equal(undefined)
    for (const { family, example } of surfaces)
      family.accept(JSON.parse(JSON.stringify(example)), { loc: ['example'], servicesBase: '' })
  })
})
