import { expect } from 'chai'
import { createApiKey } from '../../../src/access/keys/api-keys.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { expectRefusal } from '../conformance/surface-client.ts'
import { embed, type EmbedClient, longEmbed, type MadeArtifact, ok, startEmbeds } from './embed-client.ts'

describe('embeds: reach nothing of another project', () => {
  let client: EmbedClient
  let secret: MadeArtifact
  let theirs: Record<string, string>
  before(async () => {
    client = await startEmbeds()
    secret = await client.snippet({ voice: 'secret' }, { slug: 'secret' })
    await client.deploy('vault', { workflow_ref: { slug: 'secret' } })
    const { token } = await createApiKey(nodeFs, client.service.storeDir, {
      ...{ project: 'elsewhere', name: 'visitor', scopes: ['admin'] },
    })
    theirs = { authorization: `ApiKey ${token}` }
    const workflow = { slug: 'own', data: { parameters: { voice: 'own' } } }
    await ok(client.service.post('/simple/workflows/', { workflow }, theirs))
  })
  after(() => client.stop())

  const TOKENS = (): readonly unknown[] => [
    ...['workflow', 'application', 'evaluator'].flatMap((entity) => [
      embed({ [entity]: { id: secret.id } }),
      embed({ [`${entity}_variant`]: { id: secret.variantId } }),
      embed({ [`${entity}_revision`]: { id: secret.revisionId } }),
      embed({ [`${entity}_revision`]: { slug: 'secret', version: '1' } }),
      longEmbed(`${entity}_revision.id=${secret.revisionId}`, 'path=parameters.voice'),
      `@{{${entity}.slug=secret, path=voice}}`,
    ]),
    '@{{environment.slug=vault, key=secret.revision, path=voice}}',
    embed({ environment: { slug: 'vault' } }),
  ]

  it('whatever form and reference: not found, though it is there for a key of its own project', async () => {
    for (const token of TOKENS()) {
      const body = { workflow_revision: { data: { parameters: { token } } } }
      const path = '/workflows/revisions/resolve'
      expect((await ok(client.service.post(path, body))).resolution_info.embeds_resolved).to.equal(1)
      const reply = await client.service.post(path, body, theirs)
      expectRefusal(reply, 404, 'embed_not_found')
      expect(reply.text).to.not.include('"voice"')
    }
  })

  it('nor does a token that comes in with an embed of the own project', async () => {
    const data = {
      parameters: {
        voice: '@{{workflow.slug=secret, path=voice}}',
        own: '@{{workflow.slug=own, path=voice}}',
      },
    }
    const { warnings } = await ok(
      client.service.post('/simple/workflows/', { workflow: { slug: 'nested', data } }, theirs),
    )
    expect(warnings).to.have.length(1)
    const parameters = { a: embed({ workflow: { slug: 'nested' } }, { path: 'parameters' }) }
    const body = { workflow_revision: { data: { parameters } }, error_policy: 'placeholder' }
    const resolved = await ok(client.service.post('/workflows/revisions/resolve', body, theirs))
    expect(resolved.workflow_revision.data.parameters.a).to.deep.equal({
      voice: '<error:EmbedNotFoundError>',
      own: 'own',
    })
  })

  it('what depends on something is asked for in its own project, and told of that alone', async () => {
    const own = await client.snippet({ t: '@{{workflow.slug=own, path=voice}}' })
    const asked = { workflow_ref: { slug: 'own' } }
    const path = '/workflows/revisions/dependents'
    expectRefusal(await client.service.post(path, asked), 404, 'artifact_not_found')
    const { dependents } = await ok(client.service.post(path, asked, theirs))
    expect(dependents.map(({ workflow }: any) => workflow.slug)).to.deep.equal(['nested'])
    const foreign = await client.service.post(path, { workflow_ref: { id: own.id } }, theirs)
    expectRefusal(foreign, 404, 'artifact_not_found')
  })
})

describe('embeds: __proto__, constructor and ../ are names like others', () => {
  let client: EmbedClient
  before(async () => {
    client = await startEmbeds()
    await client.snippet({ voice: 'calm', list: [1] }, { slug: 'tone' })
    const odd =
      '{"__proto__":{"x":1},"constructor":{"prototype":"own"},"toString":"text","10":"ten","9":"nine"}'
    await ok(
      client.service.post(
        '/simple/workflows/',
        `{"workflow": {"slug": "odd", "data": {"parameters": ${odd}}}}`,
      ),
    )
    await client.deploy('prod', { workflow_ref: { slug: 'tone' } })
  })
  after(() => client.stop())

  it('a path reaches what is there under such a key', async () => {
    for (const [path, value] of [
      ['parameters.__proto__.x', 1],
      ['/parameters/__proto__/x', 1],
      ['$.parameters["__proto__"].x', 1],
      ['parameters.constructor.prototype', 'own'],
      ['/parameters/toString', 'text'],
      ['parameters.10', 'ten'],
    ] as const) {
      const { parameters } = await client.resolved({ v: embed({ workflow: { slug: 'odd' } }, { path }) })
      expect(parameters.v, path).to.equal(value)
      if (path.startsWith('$')) continue
      const long = await client.resolved({ v: longEmbed('workflow.slug=odd', `path=${path}`) })
      expect(long.parameters.v, path).to.equal(String(value))
    }
  })

  it('and nothing where there is none', async () => {
    for (const path of [
      'parameters.__proto__',
      'parameters.constructor',
      'parameters.constructor.prototype',
      'constructor',
      '__proto__',
      'parameters.toString',
      'parameters.list.length',
      'parameters.list.__proto__',
      'parameters.list.map',
      'parameters.voice.length',
      'parameters.voice.0',
      '/parameters/__proto__',
      '/constructor/name',
      '/__proto__/toString',
      '$.parameters["__proto__"]',
      '$.parameters.constructor',
    ]) {
      const tokens = [embed({ workflow: { slug: 'tone' } }, { path })]
      if (!path.startsWith('$')) tokens.push([longEmbed('workflow.slug=tone', `path=${path}`)])
      for (const token of tokens)
        expectRefusal(
          await client.refused({ token }),
          422,
          'embed_path_not_found',
          path.replaceAll('"', '\\"'),
        )
    }
  })

  it('keys of pins, entities and slugs likewise', async () => {
    for (const key of ['__proto__', 'constructor', 'hasOwnProperty', 'tone.constructor', '../prod']) {
      const token = `@{{environment.slug=prod, key=${key}, path=voice}}`
      expectRefusal(await client.refused({ token }), 404, 'embed_not_found', key)
      await client.deploy('odd-keys', { workflow_ref: { slug: 'tone' }, key })
      const { parameters } = await client.resolved({ token: token.replace('slug=prod', 'slug=odd-keys') })
      expect(parameters).to.deep.equal({ token: 'calm' })
    }
    for (const entity of ['__proto__', 'constructor', 'toString', 'workflow___proto__']) {
      const token = `{"@svc.embed": {"@svc.references": {"${entity}": {"slug": "tone"}}}}`
      expectRefusal(
        await client.service.post(
          '/workflows/revisions/resolve',
          `{"workflow_revision": {"data": {"parameters": {"t": ${token}}}}}`,
        ),
        422,
        'embed_unsupported_entity',
        entity,
      )
    }
    for (const slug of ['__proto__', 'constructor']) {
      const token = embed({ workflow: { slug } }, { path: 'parameters.of' })
      expectRefusal(await client.refused({ token }), 404, 'embed_not_found', slug)
      await client.snippet({ of: slug }, { slug })
      expect((await client.resolved({ token })).parameters).to.deep.equal({ token: slug })
    }
  })

  it('a slug that leads out of the store is no slug: its token is mere text', async () => {
    const parameters = {
      a: ['../tone', '..', '.', '/etc/passwd', 'tone/../tone', 'tone\\..', 'a b', ''].map((slug) =>
        embed({ workflow: { slug } }),
      ),
      b: longEmbed('workflow_revision.slug=../tone'),
      c: '@{{workflow.slug=../../workflows/tone}}',
      d: embed({ workflow: { id: '../tone' } }),
    }
    const { parameters: after, info } = await client.resolved(parameters)
    expect(after).to.deep.equal(parameters)
    expect(info).to.include({ embeds_resolved: 0 })
  })

  it('an embed may stand under such a key, and changes nothing else', async () => {
    const token = JSON.stringify(embed({ workflow: { slug: 'odd' } }, { path: 'parameters' }))
    const reply = await client.service.post(
      '/workflows/revisions/resolve',
      `{"workflow_revision": {"data": {"parameters": {"__proto__": {"constructor": ${token}}, "2": "@{{workflow.slug=tone, path=voice}}", "1": 1}}}}`,
    )
    expect(reply.status).to.equal(200)
    expect(reply.text).to.include(
      '"parameters":{"__proto__":{"constructor":{"__proto__":{"x":1},"constructor":{"prototype":"own"},"toString":"text","10":"ten","9":"nine"}},"2":"calm","1":1}',
    )
    expect(Object.hasOwn(Object.prototype, 'x')).to.equal(false)
  })
})
