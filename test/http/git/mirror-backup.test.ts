import { expect } from 'chai'
import { readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { git } from '../../support/git/git-program.ts'
import type { Reply, RunningService } from '../../support/servers/service.ts'
import { ADMIN_KEY, startService } from '../../support/servers/service.ts'
import type { Clone } from '../../support/git/git-client.ts'
import { cloneIn, cloneOf, keyWith, newFolder, remoteOf, workflow } from '../../support/git/git-client.ts'

/** What docs/guide/backing-up.md says, through the git program. */
describe('git: a backup by cloning', () => {
  let service: RunningService
  let mirror: Clone
  before(async () => {
    service = await startService()
    await workflow(service, 'bot')
    const clone = await cloneOf(service, 'bot')
    clone.write('data.json', '{"parameters": {"number": 2, "big": 12345678901234567890}}')
    await clone.commit('Pushed')
    await clone.git('push', '-q')
    await deploy(service, 1)
    mirror = await mirrorOf('bot')
  })
  after(() => service.stop())

  const mirrorOf = async (slug: string, family = 'workflows'): Promise<Clone> => {
    const clone = cloneIn(newFolder())
    await clone.git('clone', '-q', '--mirror', remoteOf(service, slug, family), '.')
    return clone
  }
  const refsOf = (folder: string): string[] =>
    git(folder, ['for-each-ref', '--format=%(objectname) %(refname)']).split('\n')

  it('a plain clone leaves out the record, the notes and what environments run; a mirror has them', async () => {
    const plain = await cloneOf(service, 'bot')
    expect(namesOf(await plain.git('for-each-ref', '--format=%(refname)'))).to.deep.equal([
      'refs/heads/bot',
      'refs/remotes/origin/HEAD',
      'refs/remotes/origin/bot',
    ])
    expect(namesOf(await mirror.git('for-each-ref', '--format=%(refname)'))).to.deep.equal([
      'refs/environments/production',
      'refs/heads/bot',
      'refs/meta/artifact',
      'refs/notes/pushes',
    ])
  })

  it('an update brings what was committed, deployed and undeployed since', async () => {
    await commit(service, 3)
    await deploy(service, 3, 'staging')
    await mirror.git('remote', 'update', '--prune')
    expect(refsOf(mirror.folder)).to.deep.equal(refsOf(service.repository('bot')))
    const { body } = await service.post('/environments/revisions/retrieve', {
      environment_ref: { slug: 'staging' },
    })
    await service.post('/environments/revisions/commit', {
      environment_revision_commit: {
        environment_variant_id: body.environment_revision.environment_variant_id,
        delta: { remove: ['bot.revision'] },
      },
    })
    await mirror.git('remote', 'update', '--prune')
    expect(await mirror.git('for-each-ref', '--format=%(refname)')).to.not.include(
      'refs/environments/staging',
    )
    expect(refsOf(mirror.folder)).to.deep.equal(refsOf(service.repository('bot')))
    expect(await mirror.git('fsck', '--strict')).to.equal('')
  })

  it('a bundle of it brings the artifact back to the server that lost it, byte for byte', async () => {
    const before = await answersOf(service)
    const refs = refsOf(service.repository('bot'))
    lose()
    expect((await service.get('/git/workflows/bot.git/info/refs?service=git-upload-pack')).status).to.equal(
      404,
    )
    const reply = await bringBack(service, 'workflows', 'bot', mirror)
    expect([reply.status, reply.body], reply.text).to.deep.equal([200, { count: 1, outcome: 'restored' }])
    expect(await answersOf(service)).to.deep.equal(before)
    expect(refsOf(service.repository('bot'))).to.deep.equal(refs)
    const again = await bringBack(service, 'workflows', 'bot', mirror)
    expect([again.status, again.body.outcome], again.text).to.deep.equal([200, 'there'])
  })

  it('so does a mirror clone of the mirror, put in its place by git', async () => {
    const before = await answersOf(service)
    lose()
    git(newFolder(), ['clone', '-q', '--mirror', mirror.folder, service.repository('bot')])
    expect(await answersOf(service)).to.deep.equal(before)
    await commit(service, 4)
    await mirror.git('remote', 'update', '--prune')
    expect(refsOf(mirror.folder)).to.deep.equal(refsOf(service.repository('bot')))
  })

  it('a new server has it with the same ids, and its deployments with the mirror of the environment', async () => {
    const production = await mirrorOf('production', 'environments')
    const before = await answersOf(service)
    const other = await startService()
    try {
      const outcomes: unknown[] = []
      for (const [family, slug, copy] of [
        ['workflows', 'bot', mirror],
        ['environments', 'production', production],
      ] as const) {
        const reply = await bringBack(other, family, slug, copy)
        outcomes.push(reply.body.outcome ?? reply.text)
      }
      expect(outcomes).to.deep.equal(['restored', 'replaced'])
      const after = (await answersOf(other)).map((text) => text.replaceAll(other.url, service.url))
      expect(after).to.deep.equal(before)
      expect(refsOf(other.repository('bot'))).to.deep.equal(refsOf(service.repository('bot')))
    } finally {
      await other.stop()
    }
  })

  it('a bundle is taken from a key with the scope admin only, and never over other content', async () => {
    const refs = refsOf(service.repository('bot'))
    const writer = await keyWith(service, 'read', 'write', 'deploy')
    const refused = await bringBack(service, 'workflows', 'bot', mirror, writer)
    expect([refused.status, refused.body.code]).to.deep.equal([403, 'missing_scope'])
    const changed = cloneIn(newFolder())
    await changed.git('clone', '-q', '--mirror', mirror.folder, '.')
    await changed.git('update-ref', 'refs/heads/bot', 'refs/heads/bot~1')
    const reply = await bringBack(service, 'workflows', 'bot', changed)
    expect(reply.status, reply.text).to.equal(409)
    expect(reply.body.detail).to.include('refs/heads/bot')
    expect(refsOf(service.repository('bot'))).to.deep.equal(refs)
  })

  it('a push of it is refused where it would bring records, notes or deployments', async () => {
    await service.post('/workflows/', { workflow: { slug: 'second' } })
    const { code, terminal } = await mirror.try('push', '--mirror', '--progress', remoteOf(service, 'second'))
    expect(code).to.equal(1)
    for (const ref of ['refs/environments/production', 'refs/meta/artifact', 'refs/notes/pushes'])
      expect(terminal).to.include(`remote: ${ref} cannot be pushed: `)
    const ids = new Set<string>()
    for (const slug of ['bot', 'second']) {
      const { body } = await service.post('/workflows/revisions/retrieve', {
        workflow_ref: { slug },
        workflow_revision_ref: { version: 1 },
      })
      ids.add(body.workflow_revision.id)
    }
    expect(ids.size, 'the commits came, under ids of the other artifact').to.equal(2)
  })

  /** Takes the repository from the server, as a lost folder does. */
  function lose(): void {
    renameSync(service.repository('bot'), join(newFolder(), 'bot.git'))
  }
})

function namesOf(refs: string): string[] {
  return refs.split('\n').sort()
}

async function commit(service: RunningService, number: number): Promise<void> {
  const { status, text } = await service.post('/workflows/revisions/commit', {
    workflow_revision_commit: { workflow_variant_ref: { slug: 'bot' }, data: { parameters: { number } } },
  })
  expect(status, text).to.equal(200)
}

async function deploy(service: RunningService, version: number, environment = 'production'): Promise<void> {
  const { status, text } = await service.post('/workflows/revisions/deploy', {
    workflow_revision_ref: { slug: 'bot', version },
    environment_ref: { slug: environment },
  })
  expect(status, text).to.equal(200)
}

/** Everything that a client may ask of the artifact: its record, each revision, its history, and what production runs. */
async function answersOf(service: RunningService): Promise<string[]> {
  const replies: Reply[] = [
    await service.post('/workflows/query', { workflow_refs: [{ slug: 'bot' }] }),
    await service.post('/workflows/variants/query', { workflow_refs: [{ slug: 'bot' }] }),
    await service.post('/workflows/revisions/log', { workflow: { workflow_ref: { slug: 'bot' } } }),
    await service.post('/workflows/revisions/retrieve', {
      environment_ref: { slug: 'production' },
      workflow_ref: { slug: 'bot' },
    }),
  ]
  for (const version of [1, 2, 3]) {
    replies.push(
      await service.post('/workflows/revisions/retrieve', {
        workflow_revision_ref: { slug: 'bot', version },
      }),
    )
  }
  for (const { status, text } of replies) expect(status, text).to.equal(200)
  return replies.map(({ text }) => text)
}

/** Sends a bundle of the mirror, as git makes it. */
async function bringBack(
  { url }: RunningService,
  family: string,
  slug: string,
  mirror: Clone,
  key = ADMIN_KEY,
): Promise<Pick<Reply, 'status' | 'text' | 'body'>> {
  await mirror.git('bundle', 'create', '--quiet', 'all.bundle', '--all')
  const head = await mirror.git('symbolic-ref', 'HEAD')
  const answer = await fetch(`${url}/git/${family}/${slug}.git?head=${head}`, {
    method: 'PUT',
    headers: { authorization: `ApiKey ${key}`, 'content-type': 'application/x-git-bundle' },
    body: new Uint8Array(readFileSync(join(mirror.folder, 'all.bundle'))),
  })
  const text = await answer.text()
  return { status: answer.status, text, body: JSON.parse(text) }
}
