import { expect } from 'chai'
import { git, temporaryFolder } from '../../support/git/git-program.ts'
import type { Made } from '../conformance/surface-client.ts'
import type { EnvironmentClient, MadeEnvironment } from './environment-client.ts'
import { digitsOf, eventually, startEnvironments } from './environment-client.ts'

describe('environments: mirrors in the repositories of what is deployed', () => {
  let client: EnvironmentClient
  let bot: Made
  let to: MadeEnvironment
  before(async () => (client = await startEnvironments()))
  after(() => client.stop())
  beforeEach(async () => {
    bot = await client.application(3)
    to = await client.environment()
  })

  const deployVersion = (version: number, more: object = {}): Promise<unknown> =>
    client.deployed(to.slug, { application_revision_ref: { id: bot.revisions[version - 1].id }, ...more })
  /** The version that the mirror names; undefined if there is none. */
  const mirrored = (app = bot, place = to): number | undefined => {
    const oid = client.mirror(app.slug, place.slug)
    const index = app.revisions.findIndex(({ id }) => oid?.startsWith(digitsOf(id)))
    expect(oid === undefined || index >= 0, oid).to.equal(true)
    return index < 0 ? undefined : index + 1
  }
  const groupOf = (app: Made, version: number): object => ({
    application: { id: app.id },
    application_revision: { id: app.revisions[version - 1].id },
  })

  // interface 9.11
  it('name the deployed commit as soon as a deployment is answered', async () => {
    for (const version of [1, 3, 2, 1]) {
      await deployVersion(version)
      expect(mirrored()).to.equal(version)
    }
  })

  it('of two environments are two', async () => {
    await deployVersion(1)
    await client.deployed('staging', { application_ref: { id: bot.id } })
    expect(mirrored()).to.equal(1)
    expect(client.mirror(bot.slug, 'staging')).to.equal(client.gitOf(bot.slug, 'rev-parse', 'HEAD'))
  })

  it('follow a commit of data, of any artifact in it', async () => {
    const other = await client.application(2)
    const references = {
      [`${bot.slug}.revision`]: groupOf(bot, 2),
      [`${other.slug}.revision`]: groupOf(other, 1),
    }
    await client.committed(to, { data: { references } })
    expect([mirrored(), mirrored(other)]).to.deep.equal([2, 1])
    await client.committed(to, { data: { references: { [`${other.slug}.revision`]: groupOf(other, 2) } } })
    expect([mirrored(), mirrored(other)]).to.deep.equal([undefined, 2])
    await client.committed(to, { data: {} })
    expect([mirrored(), mirrored(other)]).to.deep.equal([undefined, undefined])
  })

  // interface 9.11
  it('go when a delta removes the key, and git finds no trace of them', async () => {
    await deployVersion(2)
    await client.committed(to, { delta: { remove: [`${bot.slug}.revision`] } })
    expect(mirrored()).to.equal(undefined)
    expect(client.gitOf(bot.slug, 'for-each-ref', 'refs/environments')).to.equal('')
    await deployVersion(2)
    expect(mirrored()).to.equal(2)
  })

  it('go from an environment that has a pin at nothing, too', async () => {
    await deployVersion(1)
    await client.committed(to, { delta: { set: { gone: { application: { slug: 'gone' } } } } })
    const other = await client.application(1)
    await client.deployed(to.slug, { application_ref: { id: other.id } })
    expect([mirrored(), mirrored(other)]).to.deep.equal([1, 1])
    await client.committed(to, { delta: { remove: [`${other.slug}.revision`] } })
    expect([mirrored(), mirrored(other)]).to.deep.equal([1, undefined])
  })

  it('go although git packed the refs', async () => {
    await deployVersion(2)
    client.gitOf(bot.slug, 'pack-refs', '--all')
    await client.committed(to, { delta: { remove: [`${bot.slug}.revision`] } })
    expect(mirrored()).to.equal(undefined)
  })

  // interface 9.11
  it('are not made by other keys, nor by other variants, nor by pins that point at nothing', async () => {
    await deployVersion(1, { key: 'qa' })
    expect(mirrored()).to.equal(undefined)
    await deployVersion(1)
    const { body } = await client.service.post('/environments/variants/fork', {
      environment_variant: { slug: `${to.slug}-fork` },
      environment_variant_ref: { id: to.variantId },
    })
    const fork = { ...to, variantId: body.environment_variant.id }
    await client.committed(fork, { delta: { remove: [`${bot.slug}.revision`] } })
    expect(mirrored()).to.equal(1)
    const nowhere = { application_revision: { slug: 'nowhere', version: 3 } }
    await client.committed(to, {
      delta: { set: { dangling: nowhere, [`${bot.slug}.revision`]: groupOf(bot, 3) } },
    })
    expect(mirrored()).to.equal(3)
    await client.committed(to, { delta: { remove: [`${bot.slug}.revision`] } })
    expect(mirrored(), 'beside a pin that points at nothing').to.equal(undefined)
  })

  it('under the default key of one artifact, another is not mirrored', async () => {
    const other = await client.application(1)
    await client.committed(to, {
      data: { references: { [`${bot.slug}.revision`]: groupOf(other, 1) } },
    })
    expect([mirrored(), mirrored(other)]).to.deep.equal([undefined, undefined])
  })

  it('fall back when the newest revision of the environment is archived, and return with it', async () => {
    await deployVersion(1)
    await deployVersion(2)
    const { id } = await client.latest(to.slug)
    await client.service.post(`/environments/revisions/${id}/archive`)
    expect(mirrored()).to.equal(1)
    await client.service.post(`/environments/revisions/${id}/unarchive`)
    expect(mirrored()).to.equal(2)
  })

  it('stay while the environment or the application is archived', async () => {
    await deployVersion(2)
    await client.service.post(`/environments/${to.id}/archive`)
    await client.applications.archive('', bot.id)
    expect(mirrored()).to.equal(2)
  })

  it('are made of pins by slug as well', async () => {
    await client.committed(to, {
      data: {
        references: { [`${bot.slug}.revision`]: { workflow_revision: { slug: bot.slug, version: 2 } } },
      },
    })
    expect(mirrored()).to.equal(2)
  })

  it('are no variants, revisions or slugs: a record and a log show nothing of them', async () => {
    const before = await client.applications.query('_variant', { application_refs: [{ id: bot.id }] })
    await deployVersion(2)
    const after = await client.applications.query('_variant', { application_refs: [{ id: bot.id }] })
    expect(after).to.deep.equal(before)
    expect(await client.applications.log(bot.variantId)).to.have.length(3)
  })

  it('keep what they name alive for git gc, though the branch is gone back', async () => {
    await deployVersion(3)
    client.gitOf(bot.slug, 'update-ref', `refs/heads/${bot.slug}`, `${bot.slug}~2`)
    client.gitOf(bot.slug, 'gc', '--quiet', '--prune=now')
    expect(client.gitOf(bot.slug, 'log', '--format=%s', `refs/environments/${to.slug}`)).to.equal(
      'Count 3\nCount 2\nCount 1',
    )
  })

  it('come with git clone --mirror: git log and git diff say what runs where', async () => {
    await client.deployed('staging', { application_revision_ref: { id: bot.revisions[2].id } })
    await client.deployed('production', { application_revision_ref: { id: bot.revisions[1].id } })
    const clone = temporaryFolder()
    git(clone, ['clone', '--quiet', '--mirror', client.service.repository(bot.slug), '.'])
    expect(git(clone, ['log', '--format=%s', 'refs/environments/production'])).to.equal('Count 2\nCount 1')
    const diff = git(clone, ['diff', 'refs/environments/production', 'refs/environments/staging'])
    expect(diff.split('\n').filter((line) => /^[-+] /.test(line))).to.deep.equal([
      '-    "n2": true',
      '+    "n3": true',
    ])
    expect(
      git(clone, ['log', '--format=%s', 'refs/environments/production..refs/environments/staging']),
    ).to.equal('Count 3')
  })

  it('that were moved, deleted, forged, or left behind by git are right again when the server starts', async () => {
    const ref = `refs/environments/${to.slug}`
    const [moved, deleted, forged, left] = [
      bot,
      await client.application(2),
      await client.application(1),
      await client.application(1),
    ]
    await deployVersion(2)
    await client.deployed(to.slug, { application_ref: { id: deleted.id } })
    const references = (await client.latest(to.slug)).data.references
    await client.restart(() => {
      client.gitOf(moved.slug, 'update-ref', ref, `${moved.slug}~2`)
      client.gitOf(deleted.slug, 'update-ref', '-d', ref)
      client.gitOf(forged.slug, 'update-ref', ref, forged.slug)
      deployByGit({ ...references, [`${left.slug}.revision`]: groupOf(left, 1) })
    })
    expect([moved, deleted, forged, left].map((app) => mirrored(app))).to.deep.equal([2, 2, undefined, 1])
    for (const { slug } of [moved, deleted, forged, left]) {
      expect(client.gitOf(slug, 'fsck', '--strict')).to.equal('')
    }
  })

  const deployByGit = (references: object): void => client.deployByGit(to.slug, references)

  describe('a deployment that plain git makes while the server runs', () => {
    it('is seen by the next retrieve; the mirror follows soon, without a restart', async () => {
      await deployVersion(1)
      const key = `${bot.slug}.revision`
      const through = { environment_ref: { slug: to.slug }, key }
      expect((await client.retrieved(through)).version).to.equal(1)
      deployByGit({ [key]: groupOf(bot, 3) })
      expect((await client.retrieved(through)).version).to.equal(3)
      expect(await client.latest(to.slug)).to.include({ version: 2, message: 'Deployed with git' })
      await eventually(() => mirrored() === 3, 'the mirror follows git')
      deployByGit({})
      expect((await client.retrieve(through)).body.code).to.equal('deployment_not_found')
      await eventually(() => mirrored() === undefined, 'the mirror is gone')
    })

    it('into an environment without revisions is its version 1', async () => {
      deployByGit({ [`${bot.slug}.revision`]: groupOf(bot, 2) })
      expect((await client.retrieved({ environment_ref: { slug: to.slug } })).version).to.equal(2)
      await eventually(() => mirrored() === 2, 'the mirror follows git')
      await deployVersion(3)
      expect(await client.latest(to.slug)).to.include({ version: 2 })
      expect(mirrored()).to.equal(3)
    })

    it('rolled back with git update-ref rolls back', async () => {
      await deployVersion(1)
      await deployVersion(2)
      client.git(to.slug, 'update-ref', `refs/heads/${to.slug}`, `${to.slug}~1`)
      expect((await client.retrieved({ environment_ref: { slug: to.slug } })).version).to.equal(1)
      await eventually(() => mirrored() === 1, 'the mirror follows git')
    })

    it('of nonsense is refused by the next retrieve and mended by the next commit of data', async () => {
      await deployVersion(1)
      deployByGit({ x: null })
      const broken = await client.retrieve({ environment_ref: { slug: to.slug }, key: 'x' })
      expect([broken.status, broken.body.code]).to.deep.equal([503, 'damaged_repository'])
      await client.committed(to, { data: { references: { [`${bot.slug}.revision`]: groupOf(bot, 2) } } })
      expect((await client.retrieved({ environment_ref: { slug: to.slug } })).version).to.equal(2)
      expect(mirrored()).to.equal(2)
    })
  })
})
