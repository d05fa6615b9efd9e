import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { git, temporaryFolder } from '../support/git/git-program.ts'
import { objectUuid, repositoryDigits } from '../../src/registry/store/ids.ts'
import type { KeyPair } from '../support/git/ssh-keygen.ts'
import { makeKey, needsSshKeygen } from '../support/git/ssh-keygen.ts'
import { SurfaceClient } from './conformance/surface-client.ts'
import { testedSurfaces } from './conformance/tested-surface.ts'
import type { EnvironmentClient } from './environments/environment-client.ts'
import { eventually, startEnvironments } from './environments/environment-client.ts'

describe('provenance: a service that signs', () => {
  needsSshKeygen()
  let client: EnvironmentClient
  let folder: string
  let key: KeyPair
  let friend: KeyPair
  before(async () => {
    folder = temporaryFolder()
    key = makeKey(folder, 'key')
    friend = makeKey(folder, 'friend')
    writeFileSync(`${folder}/friends`, `friend@example.com namespaces="git" ${friend.publicLine}\n`)
    const env = { SIGNING_KEY_FILE: key.file, ALLOWED_SIGNERS_FILE: `${folder}/friends` }
    client = await startEnvironments({ env })
  })
  after(() => client.stop())

  /** Runs a command on the store, with the key; answers what it prints. */
  const run = (...args: readonly string[]) => {
    const program = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
    const env = { ...process.env, STORE_DIR: client.service.storeDir, SIGNING_KEY_FILE: key.file }
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
      encoding: 'utf8',
      env,
    })
    expect(status, stderr).to.equal(0)
    return stdout
  }

  const provenance = async (id: string, surface = 'applications') => {
    const { status, text, body } = await client.service.get(`/${surface}/revisions/${id}/provenance`)
    expect(status, text).to.equal(200)
    expect(body.count).to.equal(1)
    return body.provenance
  }

  /** Commits to the application's branch with plain git, signed by a key if one is given; answers the revision's id. */
  const commitByGit = (slug: string, by?: KeyPair) => {
    const signed = by ? ['-c', 'gpg.format=ssh', '-c', `user.signingKey=${by.file}`] : []
    const tip = [...(by ? ['-S'] : []), '-p', slug, '-m', 'By hand', `${slug}^{tree}`]
    return moved(slug, client.gitOf(slug, ...signed, 'commit-tree', ...tip))
  }

  /** Moves the application's branch to a commit with plain git; answers the id of that revision. */
  const moved = (slug: string, oid: string) => {
    client.gitOf(slug, 'update-ref', `refs/heads/${slug}`, oid)
    const { id } = JSON.parse(client.gitOf(slug, 'show', 'refs/meta/artifact:artifact.json'))
    return objectUuid(oid, repositoryDigits(id))
  }

  it('git verify-commit accepts every commit there is: revisions, deployments, meta commits, what a command imports', async () => {
    const { slug, variantId, id } = await client.application(2)
    await client.applications.post('/variants/fork', {
      application_variant: { slug: `${slug}_fork` },
      application_variant_id: variantId,
    })
    const deploy = {
      application_variant_id: variantId,
      message: 'Both',
      deploy: ['staging'],
      data: { parameters: {} },
    }
    const body = { application_revision_commit: deploy }
    const committed = await client.service.post('/applications/revisions/commit', body, {
      'idempotency-key': slug,
    })
    expect(committed.status, committed.text).to.equal(200)
    await client.service.put(`/applications/${id}`, { application: { id, name: 'Named' } })
    await client.service.post(`/applications/${id}/archive`)
    const rows = `${folder}/rows.csv`
    writeFileSync(rows, 'country\nPeru\n')
    run('testsets', 'import', rows, '--slug', 'rows_of')
    const line = run('keys', 'signing')
    expect(line).to.equal(`branchpoint namespaces="git" ${key.publicLine}\n`)
    writeFileSync(`${folder}/allowed`, line)
    const settings = ['-c', `gpg.ssh.allowedSignersFile=${folder}/allowed`]
    for (const [repository, atLeast] of [
      [client.service.repository(slug), 6],
      [client.service.repository('staging', 'environments'), 2],
      [client.service.repository('production', 'environments'), 1],
      [client.service.repository('rows_of', 'testsets'), 2],
    ] as const) {
      const commits = git(repository, ['rev-list', '--all']).split('\n')
      expect(commits, repository).to.have.length.at.least(atLeast)
      git(repository, [...settings, 'verify-commit', ...commits])
      expect(git(repository, ['fsck', '--strict'])).to.equal('')
    }
  })

  it('tells the commit as git does, by the author that the API key is, with the service’s signature', async () => {
    const { slug, revisions } = await client.application(2)
    const [first, second] = revisions
    const found = await provenance(second.id)
    const format = '%H%n%T%n%P%n%an <%ae>%n%cn <%ce>%n%cd'
    const shown = git(client.service.repository(slug), [
      'log',
      '-1',
      `--format=${format}`,
      '--date=format:%Y-%m-%dT%H:%M:%SZ',
      slug,
    ])
    const [commit, tree, parent, author, committer, date] = shown.split('\n')
    expect(found).to.deep.equal({
      ...{ commit, tree, parents: [parent], author, committer, date },
      trailers: { variant: slug },
      signature: { status: 'good', key: key.fingerprint },
      arrival: { door: 'rest' },
      environments: [],
    })
    expect(found).to.include({ author: second.author, date: second.date })
    expect(await provenance(first.id)).to.deep.include({ commit: parent, parents: [] })
  })

  it('answers at every surface, and 404 for what is none of its own', async () => {
    for (const surface of testedSurfaces) {
      const { revisions } = await new SurfaceClient(surface, () => client.service).made(1, {
        slug: `signed_${surface.path}`,
      })
      const found = await provenance(revisions[0].id, surface.path)
      expect(found.signature, surface.path).to.deep.equal({ status: 'good', key: key.fingerprint })
      const other = surface.path === 'testsets' ? 'queries' : 'testsets'
      const { status, body } = await client.service.get(`/${other}/revisions/${revisions[0].id}/provenance`)
      expect([status, body.code]).to.deep.equal([404, 'revision_not_found'])
    }
  })

  it('names what runs it now, and since which deployment, whatever else was deployed there', async () => {
    const { slug, revisions } = await client.application(2)
    const { slug: other } = await client.application(1)
    const [first, second] = revisions.map(referenceTo) as [object, object] // as many as were asked for
    const place = await client.environment()
    await client.deployed(place.slug, first)
    await client.deployed(place.slug, second)
    const brought = await client.latest(place.slug)
    await client.deployed(place.slug, { application_ref: { slug: other } })
    await client.deployed(place.slug, { ...second, key: 'canary' })
    const now = await client.latest(place.slug)
    const reference = { environment: { id: place.id, slug: place.slug } }
    const { environments } = await provenance(revisions[1].id)
    expect(environments.map(keyOf).sort()).to.deep.equal(['canary', `${slug}.revision`])
    const running = environments.find((it: Running) => keyOf(it) !== 'canary')
    expect(running).to.deep.include(reference)
    expect(running.environment_revision).to.deep.equal({ id: now.id, slug: now.slug, version: 4 })
    expect(running.since).to.deep.equal({
      ...{ id: brought.id, slug: brought.slug, version: 2, author: brought.author, date: brought.date },
      committer: brought.author,
      commit: client.git(place.slug, 'rev-parse', 'HEAD~2'),
      signature: { status: 'good', key: key.fingerprint },
    })
    expect((await provenance(revisions[0].id)).environments).to.deep.equal([])
    const deployment = await provenance(brought.id, 'environments')
    expect(deployment.trailers).to.deep.include({
      deploy_key: `${slug}.revision`,
      deploy_from: `${revisions[0].slug} ${revisions[0].id}`,
      deploy_to: `${revisions[1].slug} ${revisions[1].id}`,
    })
  })

  it('counts a rollback from the rollback on, and forgets what was undeployed, archived, or does not decode', async () => {
    const { slug, revisions } = await client.application(2)
    const [first, second] = revisions.map(referenceTo) as [object, object] // as many as were asked for
    const place = await client.environment()
    for (const reference of [first, second, first]) await client.deployed(place.slug, reference)
    const runs = async () => (await provenance(revisions[0].id)).environments
    expect((await runs()).map(versionSince)).to.deep.equal([3])
    for (const archived of [place.id, `variants/${place.variantId}`]) {
      await client.service.post(`/environments/${archived}/archive`)
      expect(await runs(), archived).to.deep.equal([])
      await client.service.post(`/environments/${archived}/unarchive`)
      expect(await runs(), archived).to.have.length(1)
    }
    await client.committed(place, { delta: { remove: [`${slug}.revision`] } })
    expect(await runs()).to.deep.equal([])
    await client.deployed(place.slug, first)
    expect((await runs()).map(versionSince)).to.deep.equal([5])
    client.deployByGit(place.slug, { not: 'a reference' })
    await eventually(async () => (await runs()).length === 0, 'what git broke runs nothing')
  })

  it('believes pushes of keys that are allowed, and only those', async () => {
    const { slug, revisions } = await client.application(1)
    const stranger = makeKey(folder, 'stranger')
    for (const [by, signature] of [
      [friend, { status: 'good', key: friend.fingerprint }],
      [stranger, { status: 'unknown_key', key: stranger.fingerprint }],
      [undefined, { status: 'none' }],
    ] as const) {
      const found = await provenance(commitByGit(slug, by))
      const { body } = await client.service.post('/applications/graph', {
        application_ref: { slug },
        windowing: { limit: 1 },
        include_signatures: true,
      })
      expect(body.nodes[0].signature).to.deep.equal(found.signature)
      expect(found.signature).to.deep.equal(signature)
      expect(found.arrival).to.equal(null)
      expect(found).to.include({ author: 'Ann <ann@example.com>', committer: 'Ann <ann@example.com>' })
    }
    expect((await provenance(revisions[0].id)).signature.status).to.equal('good')
  })

  it('finds a commit bad that was changed after it was signed', async () => {
    const { slug } = await client.application(1)
    const commit = client.gitOf(slug, 'cat-file', 'commit', slug)
    const changed = `${commit.replace('\n\n', '\n\nIt was me. ')}\n`
    const oid = git(
      client.service.repository(slug),
      ['hash-object', '-t', 'commit', '-w', '--stdin'],
      changed,
    )
    const { signature } = await provenance(moved(slug, oid))
    expect(signature).to.deep.equal({ status: 'bad', key: key.fingerprint })
  })

  it('tells where a revision that does not decode comes from', async () => {
    const { slug } = await client.application(1)
    const repository = client.service.repository(slug)
    const blob = git(repository, ['hash-object', '-w', '--stdin'], 'no JSON')
    const tree = git(repository, ['mktree'], `100644 blob ${blob}\tdata.json\n`)
    const commit = git(repository, ['commit-tree', tree, '-p', slug, '-m', 'Break it'])
    const found = await provenance(moved(slug, commit))
    expect(found).to.deep.include({ commit, tree, signature: { status: 'none' } })
  })
})

describe('provenance: a service without a key', () => {
  let client: EnvironmentClient
  before(async () => (client = await startEnvironments()))
  after(() => client.stop())

  it('signs nothing, and says so', async () => {
    const { slug, revisions } = await client.application(1)
    const { body } = await client.service.get(`/applications/revisions/${revisions[0].id}/provenance`)
    expect(body.provenance.signature).to.deep.equal({ status: 'none' })
    expect(body.provenance.arrival).to.equal(null)
    expect(client.gitOf(slug, 'cat-file', 'commit', slug)).not.to.contain('gpgsig')
  })
})

interface Running {
  readonly key: string
  readonly since: { readonly version: number }
}

function keyOf({ key }: Running): string {
  return key
}

function versionSince({ since }: Running): number {
  return since.version
}

function referenceTo({ id }: { readonly id: string }): object {
  return { application_revision_ref: { id } }
}
