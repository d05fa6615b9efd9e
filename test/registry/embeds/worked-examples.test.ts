import { expect } from 'chai'
import { registryTargets } from '../../../src/registry/embeds/targets/registry-targets.ts'
import { type ErrorPolicy, resolveEmbeds } from '../../../src/registry/embeds/resolve-embeds.ts'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { openShelf, type Shelf } from './shelf.ts'
import { refusalOf } from './refusal-of.ts'

/** The worked examples, over a real registry; versions begin with 1 here. */
describe('embeds: the worked examples', () => {
  const TONE = {
    parameters: {
      voice: 'calm',
      limits: { words: 80 },
      prompt: { messages: [{ role: 'system', content: 'Stay calm.' }] },
    },
  }
  const voice =
    '@svc.embed[@svc.references[workflow_revision.slug=tone-v1], @svc.selector[path=parameters.voice]]'
  let shelf: Shelf

  before(async () => {
    shelf = await openShelf()
    const { artifact } = await shelf.put('tone', { parameters: { voice: 'harsh' } })
    const tone = await shelf.commit(artifact, TONE, 'tone-v1')
    await shelf.put('wrap', { parameters: { line: `W(${voice})` } })
    await shelf.putEnvironment('prod', {
      references: {
        'tone.revision': {
          workflow: { id: tone.artifact.id },
          workflow_variant: { id: tone.variant.id },
          workflow_revision: { id: tone.id, slug: 'tone-v1', version: '2' },
        },
      },
    })
  })

  const resolve = async (before: JsonObject, errorPolicy: ErrorPolicy = 'exception') => {
    const options = { maxDepth: 10, maxEmbeds: 100, errorPolicy }
    return resolveEmbeds(before, registryTargets(shelf.registry), options)
  }
  const after = async (parameters: JsonObject) => (await resolve({ parameters })).data

  // interface 10.2
  it('object, whole data', async () => {
    const references = { workflow_revision: { slug: 'tone', version: '2' } }
    const { data, info } = await resolve({
      parameters: { style: { '@svc.embed': { '@svc.references': references } } },
    })
    expect(data).to.deep.equal({ parameters: { style: TONE } })
    expect(info).to.deep.equal({
      references_used: [references],
      depth_reached: 1,
      embeds_resolved: 1,
      errors: [],
    })
  })

  it('object, path, types kept, inside an array', async () => {
    const embed = {
      '@svc.references': { workflow: { slug: 'tone' } },
      '@svc.selector': { path: 'parameters.limits.words' },
    }
    expect(await after({ list: [{ '@svc.embed': embed }] })).to.deep.equal({ parameters: { list: [80] } })
  })

  // interface 10.3
  it('string, long form, twice', async () => {
    const limits = voice.replace('parameters.voice', 'parameters.limits')
    const { data, info } = await resolve({ parameters: { t: `Be ${voice}, max ${limits}` } })
    expect(data).to.deep.equal({ parameters: { t: 'Be calm, max {"words": 80}' } })
    expect(info).to.include({ embeds_resolved: 2, depth_reached: 1 })
  })

  // interface 10.4
  it('shorthand, default path and explicit path', async () => {
    const a = '>> @{{workflow.slug=tone}}'
    const b = '@{{ workflow_revision.slug:tone-v1 & path:voice }}'
    expect(await after({ a, b })).to.deep.equal({ parameters: { a: '>> Stay calm.', b: 'calm' } })
  })

  // interface 10.9
  it('environment with key', async () => {
    const v = {
      '@svc.embed': {
        '@svc.references': { environment: { slug: 'prod' } },
        '@svc.selector': { key: 'tone.revision', path: 'parameters.voice' },
      },
    }
    const w = '@{{environment.slug=prod, key=tone.revision, path=voice}}'
    expect(await after({ v, w, x: '@{{environment.slug=prod}}' })).to.deep.equal({
      parameters: { v: 'calm', w: 'calm', x: 'Stay calm.' },
    })
  })

  it('environment without key: reading the map', async () => {
    const embed = {
      '@svc.references': { environment_revision: { slug: 'prod', version: '1' } },
      '@svc.selector': { path: '/references/tone.revision/workflow_revision/version' },
    }
    expect(await after({ pinned: { '@svc.embed': embed } })).to.deep.equal({ parameters: { pinned: '2' } })
  })

  // interface 10.10, 10.13
  it('nesting', async () => {
    const references = { workflow_revision: { slug: 'wrap', version: '1' } }
    const { data, info } = await resolve({
      parameters: { o: { '@svc.embed': { '@svc.references': references } } },
    })
    expect(data).to.deep.equal({ parameters: { o: { parameters: { line: 'W(calm)' } } } })
    expect(info).to.deep.equal({
      references_used: [references, { workflow_revision: { slug: 'tone-v1' } }],
      depth_reached: 2,
      embeds_resolved: 2,
      errors: [],
    })
  })

  it('policies', async () => {
    const bad = { '@svc.embed': { '@svc.references': { workflow_revision: { slug: 'gone', version: '1' } } } }
    const before = { parameters: { ok: 1, bad, s: 'x @{{workflow.slug=gone}} y' } }
    const error = '<error:EmbedNotFoundError>'
    const placeholder = await resolve(before, 'placeholder')
    expect(placeholder.data).to.deep.equal({ parameters: { ok: 1, bad: error, s: error } })
    const keep = await resolve(before, 'keep')
    expect(keep.data).to.deep.equal(before)
    for (const { info } of [placeholder, keep]) {
      expect(info.embeds_resolved).to.equal(0)
      expect(info.errors).to.have.length(2)
    }
    expect((await refusalOf(resolve(before))).code).to.equal('embed_not_found')
  })

  // interface 10.5
  it('inert tokens', async () => {
    const before = {
      parameters: {
        a: { '@svc.embed': { '@svc.references': { workflow_revision: { slug: 'tone', version: true } } } },
        b: '@svc.embed[@svc.references[workflow_revision:1]]',
        c: '@{{name}}',
        d: { '@svc.embed': {} },
      },
    }
    for (const policy of ['exception', 'placeholder', 'keep'] as const) {
      const { data, info } = await resolve(before, policy)
      expect(data).to.deep.equal(before)
      expect(info.errors).to.deep.equal([])
    }
  })
})
