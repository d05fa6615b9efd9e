import { expect } from 'chai'
import {
  embed,
  type EmbedClient,
  longEmbed,
  type MadeArtifact,
  ok,
  startEmbeds,
  WORKFLOW_SURFACES,
} from './embed-client.ts'

const TONE = {
  voice: 'calm',
  limits: { words: 80 },
  prompt: { messages: [{ role: 'system', content: 'Stay calm.' }] },
}
const GONE = { workflow_revision: { slug: 'gone', version: '1' } }
const SHORT_GONE = 'x @{{workflow.slug=gone}} y'
const INERT = {
  a: embed({ workflow_revision: { slug: 'tone', version: true } }),
  b: '@svc.embed[@svc.references[workflow_revision:1]]',
  c: '@{{name}}',
  d: { '@svc.embed': {} },
}
const FAILED = '<error:EmbedNotFoundError>'

/** What stands in parameters, what becomes of it, and what it says was done. */
interface Example {
  readonly before: object
  readonly after: object
  readonly info: object
  readonly policy?: string
}

const EXAMPLES: Readonly<Record<string, Example>> = {
  'object, whole data': {
    before: { style: embed({ workflow_revision: { slug: 'tone', version: '1' } }) },
    after: { style: { parameters: TONE } },
    info: { embeds_resolved: 1, depth_reached: 1 },
  },
  'object, path, types kept, inside an array': {
    before: { list: [embed({ workflow: { slug: 'tone' } }, { path: 'parameters.limits.words' })] },
    after: { list: [80] },
    info: { embeds_resolved: 1, depth_reached: 1, references_used: [{ workflow: { slug: 'tone' } }] },
  },
  'string, long form, twice': {
    before: {
      t: `Be ${longEmbed('workflow_revision.slug=tone-v1', 'path=parameters.voice')}, max ${longEmbed('workflow_revision.slug=tone-v1', 'path=parameters.limits')}`,
    },
    after: { t: 'Be calm, max {"words": 80}' },
    info: { embeds_resolved: 2, depth_reached: 1 },
  },
  'shorthand, default path and explicit path': {
    before: { a: '>> @{{workflow.slug=tone}}', b: '@{{ workflow_revision.slug:tone-v1 & path:voice }}' },
    after: { a: '>> Stay calm.', b: 'calm' },
    info: { embeds_resolved: 2, depth_reached: 1 },
  },
  'environment with key': {
    before: {
      v: embed({ environment: { slug: 'prod' } }, { key: 'tone.revision', path: 'parameters.voice' }),
      w: '@{{environment.slug=prod, key=tone.revision, path=voice}}',
      x: '@{{environment.slug=prod}}',
    },
    after: { v: 'calm', w: 'calm', x: 'Stay calm.' },
    info: { embeds_resolved: 3, depth_reached: 1 },
  },
  'environment without key: reading the map': {
    before: {
      pinned: embed(
        { environment_revision: { slug: 'prod', version: '1' } },
        { path: '/references/tone.revision/workflow_revision/version' },
      ),
    },
    after: { pinned: 1 },
    info: { embeds_resolved: 1, depth_reached: 1 },
  },
  nesting: {
    before: { o: embed({ workflow_revision: { slug: 'wrap', version: '1' } }) },
    after: { o: { parameters: { line: 'W(calm)' } } },
    info: {
      embeds_resolved: 2,
      depth_reached: 2,
      references_used: [
        { workflow_revision: { slug: 'wrap', version: '1' } },
        { workflow_revision: { slug: 'tone-v1' } },
      ],
    },
  },
  'policy placeholder': {
    before: { ok: 1, bad: embed(GONE), s: SHORT_GONE },
    after: { ok: 1, bad: FAILED, s: FAILED },
    info: { embeds_resolved: 0, depth_reached: 0, references_used: [] },
    policy: 'placeholder',
  },
  'policy keep': {
    before: { ok: 1, bad: embed(GONE), s: SHORT_GONE },
    after: { ok: 1, bad: embed(GONE), s: SHORT_GONE },
    info: { embeds_resolved: 0, depth_reached: 0, references_used: [] },
    policy: 'keep',
  },
  ...Object.fromEntries(
    ['exception', 'placeholder', 'keep'].map((policy) => [
      `inert tokens, ${policy}`,
      {
        before: INERT,
        after: INERT,
        info: { references_used: [], depth_reached: 0, embeds_resolved: 0, errors: [] },
        policy,
      },
    ]),
  ),
}

describe('embeds: the worked examples', () => {
  let client: EmbedClient
  before(async () => {
    client = await startEmbeds()
    await arrange(client)
  })
  after(() => client.stop())

  for (const [name, { before: given, after, info, policy }] of Object.entries(EXAMPLES)) {
    describe(name, () => {
      let host: MadeArtifact
      before(async () => {
        host = await client.make({ parameters: given }, { of: 'application' })
      })

      for (const surface of WORKFLOW_SURFACES) {
        it(`of a stored application, as ${surface}`, async () => {
          const body = await ok(
            client.resolve(
              { [`${surface}_revision_ref`]: { id: host.revisionId }, error_policy: policy },
              surface,
            ),
          )
          const record = body[`${surface}_revision`]
          expect(record).to.include({ id: host.revisionId, version: 1, slug: `${host.slug}-1` })
          expect(record.data).to.deep.equal({ parameters: after })
          expect(body.resolution_info).to.deep.include(info)
          expect(body.resolution_info.errors).to.have.length(failures(name))
          expect(body.retrieval_info.references).to.deep.equal({
            [surface]: { id: host.id, slug: host.slug },
            [`${surface}_variant`]: { id: host.variantId, slug: host.slug },
            [`${surface}_revision`]: { id: host.revisionId, slug: `${host.slug}-1`, version: 1 },
          })
        })

        it(`of data that the request brings as ${surface}`, async () => {
          const body = await ok(
            client.resolve(
              { [`${surface}_revision`]: { data: { parameters: given } }, error_policy: policy },
              surface,
            ),
          )
          expect(body[`${surface}_revision`]).to.deep.equal({ data: { parameters: after } })
          expect(body.resolution_info).to.deep.include(info)
          expect(body).to.not.have.property('retrieval_info')
        })
      }
    })
  }

  it('exception: the call is refused, naming the first embed that fails', async () => {
    const { status, body } = await client.refused({ ok: 1, bad: embed(GONE), s: SHORT_GONE })
    expect([status, body.code]).to.deep.equal([404, 'embed_not_found'])
    expect(body.detail).to.include('data.parameters.bad').and.include('gone')
  })

  it('an environment resolves to the map that it is, whatever its pins embed', async () => {
    const host = await client.snippet({ v: '@{{workflow.slug=tone}}' }, { slug: 'embedding' })
    await client.deploy('plain', { workflow_ref: { id: host.id } })
    const { environment_revision: raw } = await ok(
      client.service.post('/environments/revisions/retrieve', { environment_ref: { slug: 'plain' } }),
    )
    const body = await ok(client.resolve({ environment_ref: { slug: 'plain' } }, 'environment'))
    expect(body.environment_revision).to.deep.equal(raw)
    expect(Object.keys(raw.data.references)).to.deep.equal(['embedding.revision'])
    expect(body.resolution_info).to.deep.equal({
      references_used: [],
      depth_reached: 0,
      embeds_resolved: 0,
      errors: [],
    })
    expect(body.retrieval_info.references.environment.slug).to.equal('plain')
    const { data } = raw
    const inline = await ok(client.resolve({ environment_revision: { data } }, 'environment'))
    expect(inline.environment_revision).to.deep.equal({ data })
    expect(inline).to.not.have.property('retrieval_info')
  })
})

describe('embeds: versions as strings (VERSION_TYPE=string)', () => {
  let client: EmbedClient
  before(async () => {
    client = await startEmbeds({ env: { VERSION_TYPE: 'string' } })
    await arrange(client)
  })
  after(() => client.stop())

  it('are so in the record and in retrieval_info', async () => {
    const body = await ok(client.resolve({ workflow_ref: { slug: 'wrap' } }))
    expect(body.workflow_revision.version).to.equal('1')
    expect(body.retrieval_info.references.workflow_revision.version).to.equal('1')
  })

  it('are so in a record that the request brings', async () => {
    for (const version of ['7', 7]) {
      const { workflow_revision: record } = await ok(
        client.resolve({ workflow_revision: { version, data: { parameters: {} } } }),
      )
      expect(record.version).to.equal('7')
    }
  })

  it('are so in what an embed reads from an environment', async () => {
    const { before } = EXAMPLES['environment without key: reading the map'] ?? {}
    expect((await client.resolved(before ?? {})).parameters).to.deep.equal({ pinned: '1' })
  })

  it('are so in an environment that is resolved', async () => {
    const body = await ok(client.resolve({ environment_ref: { slug: 'prod' } }, 'environment'))
    expect(body.environment_revision.data.references['tone.revision'].workflow_revision.version).to.equal('1')
  })
})

async function arrange(client: EmbedClient): Promise<void> {
  const { service } = client
  const { workflow } = await ok(service.post('/workflows/', { workflow: { slug: 'tone' } }))
  const { workflow_variant: variant } = await ok(
    service.post('/workflows/variants/', { workflow_variant: { workflow_id: workflow.id, slug: 'tone' } }),
  )
  await ok(
    service.post('/workflows/revisions/commit', {
      workflow_revision_commit: {
        workflow_variant_id: variant.id,
        slug: 'tone-v1',
        data: { parameters: TONE },
      },
    }),
  )
  const line = `W(${longEmbed('workflow_revision.slug=tone-v1', 'path=parameters.voice')})`
  await client.snippet({ line }, { slug: 'wrap' })
  await client.deploy('prod', { workflow_ref: { slug: 'tone' } })
}

function failures(name: string): number {
  return name.startsWith('policy ') ? 2 : 0
}
