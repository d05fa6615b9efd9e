import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Made } from '../conformance/surface-client.ts'
import { expectRefusal } from '../conformance/surface-client.ts'
import type { EnvironmentClient, MadeEnvironment } from './environment-client.ts'
import { startEnvironments } from './environment-client.ts'

const HOSTILE = [
  '../x',
  '..',
  '.',
  'a/b',
  'a\\b',
  '/etc/passwd',
  'x.lock',
  'x.git',
  'HEAD',
  '-x',
  'a b',
  'a\0b',
]

describe('environments: names that reach for something else', () => {
  let client: EnvironmentClient
  let bot: Made
  let to: MadeEnvironment
  before(async () => {
    client = await startEnvironments()
    bot = await client.application(1)
    to = await client.environment()
  })
  after(() => client.stop())

  it('as slugs of environments are refused, and make no folder or ref', async () => {
    const before = client.refs()
    for (const slug of HOSTILE) {
      for (const path of ['/environments/', '/simple/environments/']) {
        expectRefusal(await client.service.post(path, { environment: { slug } }), 422, 'invalid_request')
      }
    }
    expect(client.refs()).to.deep.equal(before)
    expect(existsSync(join(client.service.storeDir, 'default/x.git'))).to.equal(false)
  })

  it('as slugs in references are refused before anything is looked for', async () => {
    for (const slug of HOSTILE) {
      const references = { environment_ref: { slug }, application_ref: { id: bot.id } }
      expectRefusal(await client.retrieve(references), 422, 'invalid_request', 'slug')
      expectRefusal(await client.deploy(slug, { application_ref: { id: bot.id } }), 422, 'invalid_request')
    }
  })

  it('as slugs in pins are refused, and __proto__ as a slug is nothing but a slug', async () => {
    for (const slug of HOSTILE) {
      const data = { references: { x: { application: { slug } } } }
      expectRefusal(await client.commit(to, { data }), 422, 'invalid_request')
    }
    for (const slug of ['__proto__', 'constructor', 'toString']) {
      const through = { environment_ref: { slug }, key: slug }
      expectRefusal(await client.retrieve(through), 404, 'environment_not_found', slug)
      expectRefusal(
        await client.retrieve({ environment_ref: { slug: to.slug }, application_ref: { slug } }),
        404,
        'deployment_not_found',
      )
    }
  })

  it('an environment and an application called __proto__ or constructor work like any other', async () => {
    for (const slug of ['__proto__', 'constructor']) {
      await client.environment({ slug })
      const app = await client.application(1, { slug })
      await client.deployed(slug, { application_ref: { slug } })
      const found = await client.retrieved({ environment_ref: { slug }, application_ref: { slug } })
      expect(found.id).to.equal(app.revisions[0].id)
      expect(await client.retrieved({ environment_ref: { slug } })).to.deep.equal(found)
      expect(client.mirror(slug, slug)).to.equal(client.gitOf(slug, 'rev-parse', 'HEAD'))
    }
  })

  it('as keys are never found where they were not deployed', async () => {
    await client.deployed(to.slug, { application_ref: { id: bot.id } })
    for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', '../x', '0']) {
      const through = { environment_ref: { slug: to.slug }, key }
      expectRefusal(await client.retrieve(through), 404, 'deployment_not_found', key)
    }
  })

  it('as keys and reference names write one file, and no ref beside the branch', async () => {
    const data = {
      references: Object.fromEntries(
        [...HOSTILE, '../../refs/heads/x'].map((name) => [name, { [name]: {} }]),
      ),
    }
    const { version } = await client.committed(to, { data })
    expect(Object.keys(await client.pins(to.slug))).to.deep.equal(Object.keys(data.references))
    expect(client.git(to.slug, 'ls-tree', '-r', '--name-only', 'HEAD')).to.equal('references.json')
    expect(client.git(to.slug, 'for-each-ref', '--format=%(refname)').split('\n')).to.deep.equal([
      `refs/heads/${to.slug}`,
      'refs/meta/artifact',
    ])
    expect(client.git(to.slug, 'rev-list', '--count', 'HEAD')).to.equal(`${version}`)
    const folders = readdirSync(join(client.service.storeDir, 'default')).sort()
    expect(folders).to.include.members(['environments', 'workflows']).and.not.include.members(['x', 'x.git'])
  })

  it('that a push brought as the default variant or a tag do not become mirrors', async () => {
    const place = await client.environment()
    await client.deployed(place.slug, { application_ref: { id: bot.id } })
    client.git(place.slug, 'update-ref', 'refs/heads/deep/er', place.slug)
    client.git(place.slug, 'update-ref', 'refs/tags/a/b', place.slug)
    expect((await client.retrieved({ environment_ref: { slug: place.slug } })).id).to.equal(
      bot.revisions[0].id,
    )
    const mirrors = client.gitOf(bot.slug, 'for-each-ref', '--format=%(refname)', 'refs/environments')
    expect(mirrors).to.include(`refs/environments/${place.slug}`).and.not.include('deep')
  })

  it('in a pin that git made are damage that is named, not a path', async () => {
    const place = await client.environment()
    client.deployByGit(place.slug, { x: { application: { slug: '../../workflows' } } })
    const reply = await client.retrieve({ environment_ref: { slug: place.slug }, key: 'x' })
    expectRefusal(reply, 503, 'damaged_repository', 'references.json')
  })

  it('a thousand pins in one commit are kept, and each is found', async () => {
    const group = { application_revision: { id: bot.revisions[0].id } }
    const references = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`key ${n}`, group]))
    const place = await client.environment()
    await client.committed(place, { data: { references } })
    const through = { environment_ref: { slug: place.slug }, key: 'key 999' }
    expect((await client.retrieved(through)).version).to.equal(1)
  })
})
