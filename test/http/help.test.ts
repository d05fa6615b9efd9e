import { expect } from 'chai'
import { git } from '../support/git/git-program.ts'
import type { Reply, RunningService } from '../support/servers/service.ts'
import { startService } from '../support/servers/service.ts'
import type { NewKey } from '../../src/access/keys/api-keys.ts'
import { createApiKey } from '../../src/access/keys/api-keys.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { nearNames } from '../../src/base/suggestions/near-names.ts'
import { restsDuring } from '../support/rests.ts'
import { expectRefusal } from './conformance/surface-client.ts'

describe('help with what is not found (interface 3.13)', () => {
  let service: RunningService
  let ids: { readonly id: string; readonly variant_id: string; readonly revision_id: string }
  before(async () => {
    service = await startService()
    const data = { parameters: { a: 1 } }
    const { body } = await service.post('/simple/applications', {
      application: { slug: 'support-bot', data },
    })
    ids = body.application
    await commit('support-bot')
    await service.post('/simple/testsets', { testset: { slug: 'capitals' } })
    await service.post('/simple/applications', { application: { slug: 'empty' } })
    await service.post('/workflows', { workflow: { slug: 'bare' } })
    const forked = { application_variant: { slug: 'warm' }, application_variant_ref: { slug: 'support-bot' } }
    await service.post('/variants/fork', forked)
  })
  after(() => service.stop())

  const commit = (slug: string): Promise<Reply> =>
    service.post('/applications/revisions/commit', {
      application_revision_commit: { application_variant_ref: { slug }, data: { parameters: { a: 2 } } },
    })
  const retrieve = (references: object, headers?: Record<string, string>): Promise<Reply> =>
    service.post('/applications/revisions/retrieve', references, headers)
  const keyFor = async (scopes: NewKey['scopes']): Promise<Record<string, string>> => {
    const { token } = await createApiKey(nodeFs, service.storeDir, { name: 'k', project: 'default', scopes })
    return { authorization: `ApiKey ${token}` }
  }

  it('tells a key that may only invoke nothing of what else is deployed', async () => {
    const made = (slug: string) =>
      service.post('/simple/applications', { application: { slug, data: { uri: 'svc:builtin:echo:v0' } } })
    for (const slug of ['marked-one', 'marked-two']) {
      const { revision_id: id } = (await made(slug)).body.application
      const deployed = { application_revision_ref: { id }, environment_ref: { slug: 'staging' } }
      await service.post('/applications/revisions/deploy', deployed)
    }
    const [reader, runner] = [await keyFor(['read', 'invoke']), await keyFor(['invoke'])]
    for (const more of [{}, { selector: { key: 'other' } }]) {
      const body = { references: { environment: { slug: 'staging' } }, ...more, data: { inputs: {} } }
      const [told, untold] = [
        await service.post('/services/invoke', body, reader),
        await service.post('/services/invoke', body, runner),
      ]
      expect(untold.status).to.equal(told.status)
      expect(told.text).to.include('marked-one')
      expect(untold.text).to.not.include('marked')
    }
  })

  // interface 3.13
  it('names the slugs that are near, in the words of the surface', async () => {
    const typo = await retrieve({ application_ref: { slug: 'suport-bot' } })
    expectRefusal(typo, 404, 'artifact_not_found', 'There is no application with the slug "suport-bot"')
    expect(typo.body.detail).to.match(/ Did you mean "support-bot"\?$/)
    expect(typo.body.details.near).to.deep.equal(['support-bot'])
    for (const [references, words] of [
      [{ application_ref: { slug: 'SUPPORT-BOT' } }, 'Did you mean "support-bot"?'],
      [{ application_ref: { slug: 'support' } }, 'Did you mean "support-bot"?'],
      [{ application_variant_ref: { slug: 'wram' } }, 'Did you mean "warm"?'],
      [{ application_variant_ref: { slug: 'supprt-bot' } }, 'Did you mean "support-bot"?'],
      [{ application_ref: { slug: 'support-bot' }, application_variant_ref: { slug: 'warn' } }, '"warm"'],
      [{ application_ref: { slug: 'capitals' } }, 'A testset has that slug'],
      [{ application_ref: { slug: 'warm' } }, 'A variant has that slug'],
      [{ application_variant_ref: { slug: 'bare' } }, 'An artifact has that slug'],
    ] as const) {
      const { status, body } = await retrieve(references)
      expect(status, JSON.stringify(references)).to.equal(404)
      expect(body.detail).to.include(words)
    }
    expectRefusal(
      await service.get('/evaluators/nothing_like_it'),
      404,
      'artifact_not_found',
      'no evaluator with the slug',
    )
  })

  // interface 3.13
  it('says that what is near is archived', async () => {
    await service.post('/simple/applications', { application: { slug: 'veteran' } })
    await service.post('/applications/veteran/archive')
    const { body } = await retrieve({ application_ref: { slug: 'vetran' } })
    expect(body.detail).to.include('Did you mean "veteran" (archived)?')
  })

  // interface 3.13
  it('says which version is the latest, and why there is none', async () => {
    const version = { application_variant_ref: { slug: 'support-bot', version: 9 } }
    expectRefusal(
      await retrieve(version),
      404,
      'revision_not_found',
      'version 9',
      'The latest version of "support-bot" is 2.',
    )
    for (const reference of [{ slug: 'support-bot', version: 7 }, { slug: 'support-bot-7' }]) {
      const { body } = await retrieve({ application_revision_ref: reference })
      expect(body.detail).to.include('The latest version of "support-bot" is 2.')
    }
    const { body } = await retrieve({ application_ref: { slug: 'empty' } })
    expect(body.detail).to.include('has no revision: commit one')
    const bare = await retrieve({ application_ref: { slug: 'bare' } })
    expect(bare.body.detail).to.match(/no application variant on "bare" yet\. Create one/)
    await service.post('/simple/applications', { application: { slug: 'put-away', data: {} } })
    await service.post('/applications/revisions/put-away-1/archive')
    const archived = await retrieve({ application_ref: { slug: 'put-away' } })
    expect(archived.body.detail).to.include('All of its 1 are archived')
  })

  // interface 3.13
  it('names the environments that exist', async () => {
    const asked = { environment_ref: { slug: 'prod' }, application_ref: { slug: 'support-bot' } }
    const reply = await retrieve(asked)
    expectRefusal(
      reply,
      404,
      'environment_not_found',
      'The environments are development, staging, production.',
    )
  })

  it('says what else an id is the id of', async () => {
    const variant = await service.get(`/applications/${ids.variant_id}`)
    expect(variant.body.detail).to.include('the id of the variant "support-bot"')
    const artifact = await service.get(`/applications/variants/${ids.id}`)
    expect(artifact.body.detail).to.include('the id of the workflow "support-bot"')
    const testset = await service.get(`/testsets/${ids.id}`)
    expect(testset.body.detail).to.include('no testset').and.to.include('the id of the workflow')
  })

  it('says where the slug is taken that a fork chose, and one that is free', async () => {
    const fork = {
      application_variant: { slug: 'support-bot' },
      application_variant_ref: { slug: 'support-bot' },
    }
    const reply = await service.post('/variants/fork', fork)
    expectRefusal(reply, 409, 'slug_taken', 'taken in "support-bot"', '"support-bot_2" is free')
    expect(reply.body.conflict).to.deep.equal({ slug: 'support-bot' })
    const created = await service.post('/workflows', { workflow: { slug: 'bare' } })
    expectRefusal(created, 409, 'slug_taken', '"bare_2" is free')
  })

  // interface 3.13
  it('tells a key that may not read no names of others', async () => {
    const writing = await keyFor(['write'])
    const commitTo = (slug: string) =>
      service.post(
        '/applications/revisions/commit',
        { application_revision_commit: { application_variant_ref: { slug }, data: {} } },
        writing,
      )
    const typo = await commitTo('wram')
    expect(typo.body.detail).to.equal('There is no application variant with the slug "wram".')
    expect(typo.body).to.not.have.property('details')
    const created = await service.post('/workflows', { workflow: { slug: 'bare' } }, writing)
    expect(created.body.detail).to.equal(
      'The artifact slug "bare" is taken in this project. Choose another one.',
    )
    const fork = { application_variant: { slug: 'empty' }, application_variant_ref: { slug: 'warm' } }
    const shadowed = await service.post('/variants/fork', fork, writing)
    expect(shadowed.status, shadowed.text).to.equal(200)
    expect(shadowed.body).to.not.have.property('warnings')
    const deploying = await keyFor(['deploy'])
    const deploy = { application_ref: { slug: 'support-bot' }, environment_ref: { slug: 'prod' } }
    const gone = await service.post('/applications/revisions/deploy', deploy, deploying)
    expect(gone.body.detail).to.equal('There is no environment with the slug "prod".')
  })

  // interface 5.10
  it('says in which other artifact a slug leads to the version, but to no such key', async () => {
    for (const slug of ['one', 'two']) {
      await service.post('/simple/applications', { application: { slug, data: {} } })
      git(service.repository(slug), ['branch', 'shared', slug])
      await service.get(`/applications/${slug}`) // which looks at its repository
    }
    for (const message of ['second', 'third'])
      await service.post('/applications/revisions/commit', {
        application_revision_commit: {
          application_ref: { slug: 'two' },
          application_variant_ref: { slug: 'shared' },
          message,
          data: {},
        },
      })
    const asked = [
      { application_variant_ref: { slug: 'shared', version: 3 } },
      { application_variant_ref: { slug: 'shared' }, application_revision_ref: { version: 3 } },
      { application_revision_ref: { slug: 'shared', version: 3 } },
      { application_revision_ref: { slug: 'shared-3' } },
    ]
    for (const references of asked) {
      const reply = await retrieve(references)
      expectRefusal(
        reply,
        404,
        'revision_not_found',
        'The latest version of "shared" is 1.',
        'One is in "two"',
      )
      expect(reply.body.details.artifacts.map((it: { slug: string }) => it.slug)).to.deep.equal(['two'])
      const beside = await retrieve({ ...references, application_ref: { slug: 'two' } })
      expect(beside.body.application_revision.version).to.equal(3)
    }
    const deploy = { ...asked[0], environment_ref: { slug: 'production' } }
    const deploying = await keyFor(['deploy'])
    const withheld = await service.post('/applications/revisions/deploy', deploy, deploying)
    expectRefusal(withheld, 404, 'revision_not_found')
    expect(withheld.text).to.not.include('One is in').and.to.not.include('details')
  })

  it('speaks of what is removed in the words of the surface', async () => {
    const reply = await service.call('DELETE', '/simple/applications/nobody')
    expectRefusal(reply, 404, 'artifact_not_found', 'There is no application with the slug "nobody".')
    const fork = { evaluator_variant: {}, evaluator_variant_ref: { slug: 'nobody' } }
    expectRefusal(
      await service.post('/variants/fork', fork),
      404,
      'variant_not_found',
      'no evaluator variant',
    )
  })

  it('looks through so many names only, in slices, and few searches at a time', async () => {
    const many = Array.from({ length: 150_000 }, (_, n) => [`${n}-thing`, n] as const)
    const looked: number[] = []
    const known = (function* () {
      for (const name of many) {
        looked.push(name[1])
        yield name
      }
    })()
    const rests = await restsDuring(async () => {
      const searches = [nearNames('77777-thnig', known), nearNames('b', []), nearNames('c', [])]
      const [found, none, refused] = await Promise.all(searches)
      expect(none).to.deep.equal([])
      expect(refused).to.equal(undefined)
      expect(found).to.be.an('array').with.length.at.most(3)
    })
    expect(looked.length).to.be.at.most(100_001)
    expect(rests).to.be.greaterThan(0)
  })
})
