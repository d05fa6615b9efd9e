import { expect } from 'chai'
import { danglingReferences } from '../../../../src/registry/embeds/dangling-references.ts'
import { registryTargets } from '../../../../src/registry/embeds/targets/registry-targets.ts'
import { resolveEmbeds } from '../../../../src/registry/embeds/resolve-embeds.ts'
import { getKey, type Json, type JsonObject } from '../../../../src/base/json/json.ts'
import { workflowFamily } from '../../../../src/run/handlers/workflows.ts'
import { archiveArtifact, archiveRevision } from '../../../../src/registry/artifacts/change-artifact.ts'
import { forkVariant } from '../../../../src/registry/variants/fork-variant.ts'
import { createArtifact } from '../../../../src/registry/artifacts/create-artifact.ts'
import type { Revision } from '../../../../src/registry/revisions/revision.ts'
import { CONTEXT, openShelf, type Shelf } from '../shelf.ts'
import { refusalOf } from '../refusal-of.ts'

const n = (value: number) => ({ parameters: { n: value } })

describe('embeds: targets of a registry', () => {
  let shelf: Shelf
  let lib: Revision

  beforeEach(async () => {
    shelf = await openShelf()
    lib = await shelf.put('lib', n(1), n(2))
  })

  /** What `n` of the revision is that references name. */
  const found = async (references: JsonObject): Promise<Json | undefined> => {
    const embed = { '@svc.references': references, '@svc.selector': { path: 'parameters.n' } }
    const options = { maxDepth: 10, maxEmbeds: 100, errorPolicy: 'exception' } as const
    const host = { value: { '@svc.embed': embed } }
    return getKey((await resolveEmbeds(host, registryTargets(shelf.registry), options)).data, 'value')
  }
  const refused = async (references: JsonObject) => refusalOf(found(references))

  // interface 1.7, 10.6
  it('are found at every level, by id and by slug, on every surface', async () => {
    const { artifact, variant, id } = lib
    for (const entity of ['workflow', 'application', 'evaluator']) {
      expect(await found({ [entity]: { slug: 'lib' } })).to.equal(2)
      expect(await found({ [`${entity}_artifact`]: { id: artifact.id } })).to.equal(2)
      expect(await found({ [`${entity}_variant`]: { slug: 'lib' } })).to.equal(2)
      expect(await found({ [`${entity}_variant`]: { id: variant.id } })).to.equal(2)
      expect(await found({ [`${entity}_revision`]: { id: id.toUpperCase() } })).to.equal(2)
      expect(await found({ [`${entity}_revision`]: { slug: 'lib-1' } })).to.equal(1)
      expect(await found({ [`${entity}_revision`]: { slug: 'lib', version: '1' } })).to.equal(1)
    }
  })

  // interface 10.7
  it('are scoped and versioned by the references beside', async () => {
    expect(await found({ workflow: { slug: 'lib', version: '1' } })).to.equal(1)
    expect(await found({ workflow: { slug: 'lib' }, workflow_revision: { version: '1' } })).to.equal(1)
    expect(await found({ workflow_variant: { slug: 'lib' }, workflow_revision: { version: '1' } })).to.equal(
      1,
    )
    await shelf.commit(lib.artifact, n(3), 'chosen')
    expect(await found({ workflow_revision: { slug: 'chosen' } })).to.equal(3)
    expect(await found({ workflow_revision: { slug: 'chosen', version: '3' } })).to.equal(3)
    expect((await refused({ workflow_revision: { slug: 'chosen', version: '2' } })).code).to.equal(
      'embed_not_found',
    )
  })

  // interface 10.6
  it('may be archived', async () => {
    await archiveRevision(shelf.registry, lib, 'archive', CONTEXT)
    expect(await found({ workflow_revision: { slug: 'lib-2' } })).to.equal(2)
    expect(await found({ workflow_revision: { id: lib.id } })).to.equal(2)
    expect(await found({ workflow: { slug: 'lib' } })).to.equal(1)
    const other = await shelf.put('other', n(7))
    await archiveArtifact(shelf.registry, other.artifact, 'archive', CONTEXT)
    expect(await found({ workflow: { slug: 'other' } })).to.equal(7)
  })

  it('are not what has no data, no such slug, no such version', async () => {
    const create = (slug: string, withVariant?: object) =>
      createArtifact(shelf.registry, workflowFamily, { slug, header: {}, withVariant, loc: [] }, CONTEXT)
    await shelf.commit(await create('bare', {}), undefined)
    await create('empty')
    const missing: readonly JsonObject[] = [
      { workflow: { slug: 'bare' } },
      { workflow: { slug: 'empty' } },
      { workflow: { slug: 'gone' } },
      { workflow_variant: { slug: 'gone' } },
      { workflow_revision: { slug: 'lib' } },
      { workflow_revision: { slug: 'lib', version: '9' } },
      { workflow_revision: { slug: 'lib', version: 'v1' } },
      { workflow_revision: { id: lib.artifact.id } },
      { workflow: { slug: '__svc__x' } },
      { workflow: { slug: 'a..b' } },
      { workflow: { slug: 'constructor' } },
      { environment: { slug: 'gone' } },
      { environment: { slug: 'lib' } },
    ]
    for (const references of missing)
      expect((await refused(references)).code, JSON.stringify(references)).to.equal('embed_not_found')
  })

  it('are not even looked for by a slug that nothing could have', async () => {
    for (const slug of ['a..b', 'HEAD', 'x'.repeat(300), 'a.lock', '__svc__x'])
      expect((await refused({ workflow: { slug } })).message).to.contain('Nothing has the slug')
  })

  it('need enough to be identified by', async () => {
    const vague: readonly JsonObject[] = [
      { workflow_revision: { version: '1' } },
      { workflow_variant: { version: '1' } },
      { workflow: {} },
      { workflow_revision: {} },
    ]
    for (const references of vague)
      expect((await refused(references)).code, JSON.stringify(references)).to.equal('embed_incomplete')
  })

  it('are told apart by revision: a fork is the same one, so that it closes a circle', async () => {
    const inner = '@{{workflow_variant.slug=fork, path=a}}'
    const loop = await shelf.put('loop', { parameters: { a: inner } })
    const input = { slug: 'fork', header: {}, loc: [] }
    await forkVariant(shelf.registry, workflowFamily, { revision: { id: loop.id } }, input, CONTEXT)
    const refusal = await refusalOf(
      resolveEmbeds({ x: '@{{workflow.slug=loop, path=a}}' }, registryTargets(shelf.registry), {
        maxDepth: 10,
        maxEmbeds: 100,
        errorPolicy: 'exception',
      }),
    )
    expect(refusal.code).to.equal('embed_cycle')
    expect(refusal.data.details).to.have.nested.property('cycle[0].id', loop.id)
  })

  it('are data as a reader sees it: the url of a handler is filled in', async () => {
    const { id } = await shelf.put('runs', { uri: 'svc:builtin:completion:v0' })
    const embed = { '@svc.references': { workflow: { slug: 'runs' } }, '@svc.selector': { path: 'url' } }
    const options = { maxDepth: 10, maxEmbeds: 100, errorPolicy: 'exception' } as const
    const { data } = await resolveEmbeds(
      { u: { '@svc.embed': embed } },
      registryTargets(shelf.registry),
      options,
    )
    expect(data).to.deep.equal({ u: `http://localhost/services/completion/v0/${id}` })
  })

  it('are none of a family that is not served', async () => {
    shelf = await openShelf([workflowFamily])
    expect((await refused({ environment: { slug: 'prod' } })).code).to.equal('embed_not_found')
  })
})

describe('embeds: dangling references', () => {
  const token = (slug: string) => `@{{workflow.slug=${slug}}}`

  // interface 10.15
  it('are warned of, each with its place', async () => {
    const { registry, put } = await openShelf()
    await put('lib', n(1))
    const data: JsonObject = {
      parameters: {
        'a.b': [token('lib'), `${token('gone')} ${token('lib')} ${token('gone')}`],
        o: { '@svc.embed': { '@svc.references': { workflow_revision: { slug: 'lib', version: '9' } } } },
      },
    }
    const warnings = await danglingReferences(registry, data)
    expect(warnings.map(({ code, target }) => ({ code, target }))).to.deep.equal([
      { code: 'dangling_reference', target: ['parameters', 'a.b', 1] },
      { code: 'dangling_reference', target: ['parameters', 'a.b', 1] },
      { code: 'dangling_reference', target: ['parameters', 'o'] },
    ])
    expect(warnings[2]?.message).to.contain('"lib"').and.to.contain('version 9')
  })

  it('are looked for among the first thousand references', async () => {
    const { registry, commit } = await openShelf()
    const id = 'abcdefab-cdef-7abc-8def-abcdefabcdef'
    const input = { id, slug: 'lib', header: {}, withVariant: {}, loc: [] }
    await commit(await createArtifact(registry, workflowFamily, input, CONTEXT), n(1))
    // the digits of an id may be written large or small, so one thing has many spellings
    const references = Array.from({ length: 1000 }, (_, number) => {
      let letter = 0
      const spelt = id.replaceAll(/[a-f]/g, (it) => ((number >> letter++) % 2 ? it.toUpperCase() : it))
      return `@{{workflow.id=${spelt}}}`
    })
    expect(await danglingReferences(registry, [...references.slice(1), token('gone')])).to.have.length(1)
    expect(await danglingReferences(registry, [...references, token('gone')])).to.have.length(0)
  })

  it('are at most a hundred, and odd data has none', async () => {
    const { registry } = await openShelf()
    expect(
      await danglingReferences(registry, { a: Array.from({ length: 300 }, (_, i) => token(`gone${i}`)) }),
    ).to.have.length(100)
    for (const data of [
      null,
      'x',
      [],
      { '@svc.embed': { x: 1 } },
      { '@svc.embed': { '@svc.references': { nonsense: { slug: 'x' } } } },
      { a: '@{{workflow.slug=a, environment.slug=b}} @{{workflow_revision.version=1}}' },
    ] as readonly Json[])
      expect(await danglingReferences(registry, data)).to.deep.equal([])
  })
})
