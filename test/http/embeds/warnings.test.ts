import { expect } from 'chai'
import type { Reply } from '../../support/servers/service.ts'
import { embed, type EmbedClient, longEmbed, type MadeArtifact, ok, startEmbeds } from './embed-client.ts'

const UNKNOWN = '0190a000-0000-7000-8000-000000000001'

/** Data with a dangling embed of each form, and some that are not. */
const DANGLING = {
  parameters: {
    fine: embed({ workflow: { slug: 'tone' } }, { path: 'parameters.nothing' }),
    list: [0, embed({ workflow_revision: { slug: 'tone', version: '9' } })],
    text: `@{{workflow.slug=tone, path=voice}} ${longEmbed(`application.id=${UNKNOWN}`)}`,
    'a.b': '@{{environment.slug=gone, key=x}}',
    inert: '@{{name}} @svc.embed[@svc.references[workflow.slug:gone]]',
  },
}
const TARGETS = [
  ['parameters', 'list', 1],
  ['parameters', 'text'],
  ['parameters', 'a.b'],
]
const WORDS = [
  ['{"workflow_revision":{"slug":"tone","version":"9"}}', 'version 9'],
  [`{"application":{"id":"${UNKNOWN}"}}`, `There is no workflow with the id ${UNKNOWN}.`],
  ['{"environment":{"slug":"gone"}}', 'There is no environment with the slug "gone".'],
]

describe('embeds: warnings of what points at nothing', () => {
  let client: EmbedClient
  before(async () => {
    client = await startEmbeds()
    await client.snippet({ voice: 'calm' }, { slug: 'tone' })
  })
  after(() => client.stop())

  const commit = (made: MadeArtifact, fields: object, headers?: Record<string, string>): Promise<Reply> => {
    const body = { workflow_revision_commit: { workflow_variant_id: made.variantId, ...fields } }
    return client.service.post('/workflows/revisions/commit', body, headers)
  }

  // interface 10.15
  it('embeds: a commit of data, of a delta, a simple create and a simple PUT are told of each', async () => {
    const host = await client.snippet({})
    for (const reply of [
      await commit(host, { data: DANGLING }),
      await commit(host, { delta: { set: { parameters: DANGLING.parameters } } }),
      await client.service.post('/simple/applications/', { application: { data: DANGLING } }),
      await client.service.put(`/simple/workflows/${host.id}`, { workflow: { data: DANGLING } }),
    ]) {
      const { warnings } = await ok(Promise.resolve(reply))
      expect(codesOf(warnings)).to.deep.equal([
        'dangling_reference',
        'dangling_reference',
        'dangling_reference',
      ])
      expect(warnings.map(({ target }: any) => target)).to.deep.equal(TARGETS)
      for (const [n, words] of WORDS.entries())
        for (const word of words) expect(warnings[n].message).to.include(word)
    }
  })

  it('a delta is told of what it left as it was, too; a PUT of the header alone is not', async () => {
    const host = await client.make(DANGLING)
    const { warnings } = await ok(commit(host, { delta: { set: { script: '1', runtime: 'python' } } }))
    expect(warnings.map(({ target }: any) => target)).to.deep.equal(TARGETS)
    const edited = await ok(
      client.service.put(`/simple/workflows/${host.id}`, { workflow: { id: host.id, name: 'Named' } }),
    )
    expect(edited).to.not.have.property('warnings')
  })

  it('beside the payload’s own', async () => {
    const data = { ...DANGLING, headers: { 'X-Key': 'plain' } }
    const { warnings } = await ok(client.service.post('/simple/workflows/', { workflow: { data } }))
    expect(codesOf(warnings)).to.deep.equal(['literal_header', ...TARGETS.map(() => 'dangling_reference')])
  })

  // interface 7.17
  it('braces behind a backslash, by a commit, a delta and a create', async () => {
    const host = await client.snippet({})
    const prompt = { messages: [{ role: 'user', content: String.raw`Write \{{name}}, {{name}}` }] }
    for (const reply of [
      await commit(host, { data: { parameters: { prompt } } }),
      await commit(host, { delta: { set: { parameters: { prompt } } } }),
      await client.service.post('/simple/applications/', {
        application: { data: { parameters: { prompt } } },
      }),
    ]) {
      const { warnings } = await ok(Promise.resolve(reply))
      expect(codesOf(warnings)).to.deep.equal(['escaped_braces'])
      expect(warnings[0].target).to.deep.equal(['parameters', 'prompt', 'messages', 0, 'content'])
    }
  })

  it('none when all is there, and none once it is', async () => {
    const host = await client.snippet({})
    const data = { parameters: { t: '@{{workflow.slug=late, path=voice}}' } }
    const first = await ok(commit(host, { data }))
    expect(first.warnings[0].target).to.deep.equal(['parameters', 't'])
    await client.snippet({ voice: 'there' }, { slug: 'late' })
    expect(await ok(commit(host, { data }))).to.not.have.property('warnings')
    await client.archive('/workflows/' + (await client.snippet({}, { slug: 'archived' })).id)
    const archived = { parameters: { t: embed({ workflow: { slug: 'archived' } }) } }
    expect(await ok(commit(host, { data: archived }))).to.not.have.property('warnings')
  })

  it('a key that the environment does not have, though it is there', async () => {
    const host = await client.snippet({})
    const data = { parameters: { t: '@{{environment.slug=staging, key=nobody.revision}}' } }
    const { warnings } = await ok(commit(host, { data }))
    expect(codesOf(warnings)).to.deep.equal(['dangling_reference'])
    expect(warnings[0].target).to.deep.equal(['parameters', 't'])
  })

  it('an object that looks like an embed and is none', async () => {
    const host = await client.snippet({})
    const inert = {
      '@svc.embed': { '@svc.references': { workflow_revision: { slug: 'tone', version: true } } },
    }
    const { warnings } = await ok(commit(host, { data: { parameters: { list: [inert] } } }))
    expect(codesOf(warnings)).to.deep.equal(['inert_embed'])
    expect(warnings[0].target).to.deep.equal(['parameters', 'list', 0])
    expect(warnings[0].message).to.include('versions are whole numbers')
  })

  it('circles, contradictions and other nonsense are committed without a word', async () => {
    const host = await client.snippet({}, { slug: 'circle' })
    const parameters = {
      self: embed({ workflow: { slug: 'circle' } }),
      none: { '@svc.embed': { '@svc.references': {} } },
      mixed: embed({ workflow: { slug: 'gone' }, environment: { slug: 'gone' } }),
      strange: embed({ testset: { slug: 'gone' } }),
    }
    expect(await ok(commit(host, { data: { parameters } }))).to.not.have.property('warnings')
  })

  it('at most a hundred', async () => {
    const list = Array.from({ length: 150 }, (_, n) => `@{{workflow.slug=gone-${n}}}`)
    const { warnings } = await ok(
      client.service.post('/simple/workflows/', { workflow: { data: { parameters: { list } } } }),
    )
    expect(warnings).to.have.length(100)
    expect(warnings[99].target).to.deep.equal(['parameters', 'list', 99])
    const references = Object.fromEntries(
      list.map((_, n) => [`key-${n}`, { workflow: { slug: `gone-${n}` } }]),
    )
    const pins = await ok(
      client.service.post('/simple/environments/', { environment: { data: { references } } }),
    )
    expect(pins.warnings).to.have.length(100)
  })

  it('an idempotent replay says the same again', async () => {
    const host = await client.snippet({})
    const environment = { data: { references: { a: { workflow: { slug: 'gone' } } } } }
    for (const [path, body] of [
      [
        '/workflows/revisions/commit',
        { workflow_revision_commit: { workflow_variant_id: host.variantId, data: DANGLING } },
      ],
      [
        '/workflows/revisions/commit',
        {
          workflow_revision_commit: {
            workflow_variant_id: host.variantId,
            delta: { set: { script: '@{{workflow.slug=gone}}' } },
          },
        },
      ],
      ['/simple/workflows/', { workflow: { data: { ...DANGLING, headers: { a: 'b' } } } }],
      ['/simple/environments/', { environment }],
    ] as const) {
      const headers = { 'idempotency-key': `${path} ${JSON.stringify(body).length}` }
      const first = await client.service.post(path, body, headers)
      const again = await client.service.post(path, body, headers)
      expect(again.headers.get('idempotent-replayed')).to.equal('true')
      expect(first.body.warnings).to.not.equal(undefined)
      expect(again.text).to.equal(first.text)
    }
  })

  it('reads carry none', async () => {
    const host = await client.make(DANGLING)
    const { service } = client
    const id = { workflow_ref: { id: host.id } }
    for (const reply of [
      service.get(`/workflows/revisions/${host.revisionId}`),
      service.get(`/simple/workflows/${host.id}`),
      service.post('/workflows/revisions/retrieve', id),
      service.post('/workflows/revisions/query', { workflow_refs: [{ id: host.id }] }),
      service.post('/workflows/revisions/log', { workflow: { workflow_variant_id: host.variantId } }),
      service.post('/simple/workflows/query', { workflow: { slug: host.slug } }),
    ]) {
      const body = await ok(reply)
      expect(body.count).to.equal(1)
      expect(body).to.not.have.property('warnings')
    }
  })

  describe('pins', () => {
    const references = {
      'tone.revision': { workflow: { slug: 'tone' }, workflow_revision: { slug: 'tone', version: 1 } },
      version: { application: { slug: 'tone' }, application_revision: { slug: 'tone', version: 9 } },
      'a.b': { evaluator: { id: UNKNOWN } },
      set: { testset_revision: { slug: 'gone-3' } },
      empty: {},
      unknown: { thing: { slug: 'gone' } },
    }
    const KEYS = ['version', 'a.b', 'set']

    it('a commit of data, of a delta, a simple create and a simple PUT are told of each', async () => {
      const { environment } = await ok(
        client.service.post('/simple/environments/', { environment: { data: { references: {} } } }),
      )
      const commitPins = (fields: object) =>
        client.service.post('/environments/revisions/commit', {
          environment_revision_commit: { environment_variant_id: environment.variant_id, ...fields },
        })
      for (const reply of [
        await commitPins({ data: { references } }),
        await commitPins({ delta: { set: references } }),
        await client.service.post('/simple/environments/', { environment: { data: { references } } }),
        await client.service.put(`/simple/environments/${environment.id}`, {
          environment: { data: { references } },
        }),
      ]) {
        const { warnings } = await ok(Promise.resolve(reply))
        expect(warnings.map(({ code, target }: any) => [code, target])).to.deep.equal(
          KEYS.map((key) => ['dangling_reference', ['references', key]]),
        )
        for (const [n, key] of KEYS.entries()) expect(warnings[n].message).to.include(`"${key}"`)
        expect(warnings[0].message).to.include('version 9')
        expect(warnings[1].message).to.include(UNKNOWN)
      }
    })

    it('none when all is there, none for what is deployed', async () => {
      const { 'tone.revision': tone } = references
      const made = await ok(
        client.service.post('/simple/environments/', {
          environment: { data: { references: { tone, empty: {} } } },
        }),
      )
      expect(made).to.not.have.property('warnings')
      await client.deploy('prod', { workflow_ref: { slug: 'tone' } })
      const read = await ok(
        client.service.post('/environments/revisions/retrieve', { environment_ref: { slug: 'prod' } }),
      )
      expect(read).to.not.have.property('warnings')
    })
  })
})

function codesOf(warnings: readonly any[]): string[] {
  return warnings.map(({ code }) => code)
}
