import { expect } from 'chai'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { git } from '../../support/git/git-program.ts'
import type { Received } from '../../support/servers/receiver.ts'
import type { WebhookClient } from '../../support/clients/webhook-client.ts'
import { startWebhooks } from '../../support/clients/webhook-client.ts'

describe('webhooks: events', () => {
  let client: WebhookClient
  before(async () => {
    client = await startWebhooks()
    await client.register()
  })
  after(() => client.stop())
  beforeEach(() => {
    client.receiver.received.length = 0
  })

  const ofType = (type: string) => (request: Received) => request.body.type === type

  it('a simple create tells of the artifact, its variant and its revision, in this order', async () => {
    const { id, variant_id, revision_id } = await client.workflow('fresh')
    expect(await client.types(ofType('revision.committed'))).to.deep.equal([
      'artifact.created',
      'variant.created',
      'revision.committed',
    ])
    const [artifact, , revision] = client.receiver.received.map(({ body }) => body)
    expect(artifact.data).to.deep.equal({
      family: 'workflows',
      references: { workflow: { id, slug: 'fresh' } },
      actor: artifact.data.actor,
      message: 'Create workflow fresh',
      subject: 'Create workflow fresh',
    })
    expect(artifact.data.actor).to.have.all.keys('name', 'email')
    expect(revision.data.references).to.deep.equal({
      workflow: { id, slug: 'fresh' },
      workflow_variant: { id: variant_id, slug: 'fresh' },
      workflow_revision: { id: revision_id, slug: 'fresh-1', version: 1 },
    })
    expect(Date.parse(revision.timestamp)).to.be.closeTo(Date.now(), 10_000)
  })

  it('commits in one batch are one event each, in order, with their messages', async () => {
    const { variant_id } = await client.workflow('batch')
    await Promise.all(
      Array.from({ length: 20 }, (_, number) => client.commit(variant_id, { message: `commit ${number}` })),
    )
    const told = await client.receiver.waitFor(21, ofType('revision.committed'))
    const versions = told.map(({ body }) => body.data.references.workflow_revision.version)
    expect(versions).to.deep.equal(Array.from({ length: 21 }, (_, index) => index + 1))
    const log = git(client.service.repository('batch'), ['log', '--reverse', '--format=%s', 'batch'])
    expect(told.slice(1).map(({ body }) => body.data.message)).to.deep.equal(log.split('\n').slice(1))
  })

  it('fork, edit, archive and unarchive of each level', async () => {
    const { id, variant_id, revision_id } = await client.workflow('levels')
    const { workflow_variant } = await client.post('/workflows/variants/fork', {
      workflow_variant: { slug: 'levels_fork' },
      workflow_revision_ref: { id: revision_id },
    })
    await client.service.put(`/workflows/variants/${variant_id}`, { workflow_variant: { name: 'Renamed' } })
    await client.service.put(`/workflows/${id}`, { workflow: { name: 'Renamed' } })
    for (const level of [`revisions/${revision_id}`, `variants/${workflow_variant.id}`, id]) {
      await client.post(`/workflows/${level}/archive`)
      await client.post(`/workflows/${level}/unarchive`)
    }
    expect(await client.types(ofType('artifact.unarchived'))).to.deep.equal([
      'artifact.created',
      'variant.created',
      'revision.committed',
      'variant.forked',
      'variant.edited',
      'artifact.edited',
      'revision.archived',
      'revision.unarchived',
      'variant.archived',
      'variant.unarchived',
      'artifact.archived',
      'artifact.unarchived',
    ])
    const [fork] = await client.receiver.waitFor(1, ofType('variant.forked'))
    expect(fork?.body.data.references.workflow_variant).to.deep.equal({
      id: workflow_variant.id,
      slug: 'levels_fork',
    })
    const [archived] = await client.receiver.waitFor(1, ofType('revision.archived'))
    expect(archived?.body.data.references.workflow_revision).to.deep.equal({
      id: revision_id,
      slug: 'levels-1',
      version: 1,
    })
  })

  // interface 13.9
  it('a deployment tells the environment’s revision and which pins were created, updated and deleted', async () => {
    const { variant_id } = await client.workflow('deployed')
    await client.commit(variant_id)
    await client.deploy('deployed', 1)
    await client.deploy('deployed', 2)
    await client.deploy('deployed', 2)
    const { environment } = (
      await client.service.post('/environments/query', { environment: { slug: 'staging' } })
    ).body.environments.map((it: object) => ({ environment: it }))[0]
    const { environment_variants } = await client.post('/environments/variants/query', {
      environment_refs: [{ id: environment.id }],
    })
    await client.post('/environments/revisions/commit', {
      environment_revision_commit: {
        environment_variant_id: environment_variants[0].id,
        delta: { remove: ['deployed.revision'] },
      },
    })
    const [undeployed] = await client.receiver.waitFor(1, ofType('environment.undeployed'))
    const deployed = await client.receiver.waitFor(2, ofType('environment.deployed'))
    expect(deployed).to.have.length(2)
    const [created, updated] = deployed.map(({ body }) => body.data)
    expect(created.references.environment.slug).to.equal('staging')
    expect(created.references.environment_revision.version).to.equal(1)
    expect(created).not.to.have.property('message')
    expect(created.subject).to.equal('Deploy deployed v1 to staging')
    expect(undeployed?.body.data.subject).to.equal('Undeploy deployed from staging')
    const pin = (data: { diff: Record<string, Record<string, object>> }, part: string) =>
      data.diff[part]?.['deployed.revision'] as Record<string, { workflow_revision: object }>
    expect(pin(created, 'created')['new']?.workflow_revision).to.include({ slug: 'deployed-1', version: 1 })
    expect(created.diff.updated).to.deep.equal({})
    expect(pin(updated, 'updated')['old']?.workflow_revision).to.include({ slug: 'deployed-1' })
    expect(pin(updated, 'updated')['new']?.workflow_revision).to.include({ slug: 'deployed-2' })
    expect(pin(undeployed?.body.data, 'deleted')['old']?.workflow_revision).to.include({ slug: 'deployed-2' })
  })

  it('commit and deploy in one write tells of both', async () => {
    const { variant_id } = await client.workflow('both')
    await client.commit(variant_id, { deploy: ['development'] })
    const [deployed] = await client.receiver.waitFor(1, ofType('environment.deployed'))
    expect(deployed?.body.data.references.environment.slug).to.equal('development')
    await client.receiver.waitFor(1, ({ body }) => body.data.references.workflow_revision?.slug === 'both-2')
  })

  // interface 13.9
  it('what plain git pushes into the store is told like a commit: revisions, a branch, a fork', async () => {
    await client.workflow('pushed')
    await client.receiver.waitFor(1, ofType('revision.committed'))
    client.receiver.received.length = 0
    const clone = mkdtempSync(join(tmpdir(), 'branchpoint-clone-'))
    git(clone, ['clone', '--quiet', client.service.repository('pushed'), '.'])
    for (const n of [2, 3]) {
      writeFileSync(join(clone, 'data.json'), `{\n  "parameters": {\n    "n": ${n}\n  }\n}\n`)
      git(clone, ['commit', '--quiet', '-am', `By hand ${n}`])
    }
    git(clone, ['push', '--quiet', 'origin', 'pushed', 'pushed~1:refs/heads/pushed_fork'])
    rmSync(clone, { recursive: true })
    const told = await client.receiver.waitFor(3)
    const committed = told.filter(ofType('revision.committed')).map(({ body }) => body.data)
    expect(committed.map(({ message }) => message)).to.deep.equal(['By hand 2', 'By hand 3'])
    expect(committed[0].actor).to.deep.equal({ name: 'Ann', email: 'ann@example.com' })
    expect(committed[1].references.workflow_revision).to.include({ slug: 'pushed-3', version: 3 })
    const [fork] = told.filter(ofType('variant.forked'))
    expect(fork?.body.data.references.workflow_variant.slug).to.equal('pushed_fork')
    expect(told).to.have.length(3)
  })
})
