import { expect } from 'chai'
import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChildServer } from '../support/servers/child-server.ts'
import { KEY, startBranchpoint } from '../support/servers/child-server.ts'
import { git } from '../support/git/git-program.ts'
import type { RunningService } from '../support/servers/service.ts'
import { startService } from '../support/servers/service.ts'
import type { Fs } from '../../src/storage/files/fs.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { thisProcess } from '../../src/storage/files/process-identity.ts'
import { ageJournals } from '../git/power-cut.ts'

describe('servers: concurrent commits to one variant', () => {
  it('one server: 50 answers, consecutive versions, all in git log, fsck clean', async () => {
    const service = await startService()
    const variant = await create(service, 'busy')
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, number) => commitWith(service.post, variant, number)),
    )
    expectConsecutive(replies, service.repository('busy'), 'busy')
    await service.stop()
  })

  it('two server processes on one store: the same, and each sees the other at once', async () => {
    const storeDir = mkdtempSync(join(tmpdir(), 'branchpoint-two-'))
    const servers = await Promise.all([1, 2].map(() => startBranchpoint(storeDir, { LOG_LEVEL: 'info' })))
    try {
      const [one, two] = servers.map(poster)
      if (!one || !two) throw new Error('two servers were started')
      const { body } = await one('/simple/workflows/', {
        workflow: { slug: 'busy', data: { parameters: { n: 0 } } },
      })
      const seen = await two('/workflows/query', { workflow: { slug: 'busy' } })
      expect(seen.body.count).to.equal(1)
      const replies = await Promise.all(
        Array.from({ length: 50 }, (_, number) =>
          commitWith(number % 2 ? one : two, body.workflow.variant_id, number),
        ),
      )
      expectConsecutive(replies, `${storeDir}/default/workflows/busy.git`, 'busy')
      const creates = await Promise.all(
        Array.from({ length: 20 }, (_, number) =>
          (number % 2 ? one : two)('/workflows/', { workflow: { slug: number % 3 ? 'wanted' : 'Wanted' } }),
        ),
      )
      expect(creates.filter(({ status }) => status === 200)).to.have.length(1)
      expect(creates.filter(({ body: refused }) => refused.code === 'slug_taken')).to.have.length(19)
    } finally {
      await Promise.all(servers.map((server) => server.stop()))
      rmSync(storeDir, { recursive: true })
    }
  })
})

describe('servers: what is in the way', () => {
  let service: RunningService
  beforeEach(async () => (service = await startService()))
  afterEach(() => service.stop())

  it('the lock of a dead process is taken over', async () => {
    const variant = await create(service, 'bot')
    const { host, boot } = thisProcess()
    const owner = `${service.repository('bot')}/locks/${host}.${boot}.999999999.1.1`
    mkdirSync(`${service.repository('bot')}/locks`, { recursive: true })
    mkdirSync(`${service.repository('bot')}/refs/heads`, { recursive: true })
    writeFileSync(owner, 'unfinished')
    linkSync(owner, `${service.repository('bot')}/refs/heads/bot.lock`)
    expect((await commitWith(service.post, variant, 1)).status).to.equal(200)
    expect(existsSync(owner)).to.equal(false)
  })

  it('a foreign lock is 503 with Retry-After, names the file, and stores nothing', async () => {
    const variant = await create(service, 'bot')
    mkdirSync(`${service.repository('bot')}/refs/heads`, { recursive: true })
    writeFileSync(`${service.repository('bot')}/refs/heads/bot.lock`, '')
    const refused = await commitWith(service.post, variant, 1)
    expect([refused.status, refused.body.code]).to.deep.equal([503, 'locked'])
    expect(refused.headers.get('retry-after')).to.equal('1')
    expect(refused.body.detail).to.contain('refs/heads/bot.lock')
    expect(git(service.repository('bot'), ['rev-list', '--count', 'bot'])).to.equal('1')
  })

  it('a fork and a named revision that a kill cut off are finished from the journal at the next start, a build is cleaned', async () => {
    const variant = await create(service, 'bot')
    await service.stop({ keepStore: true })
    const cut = ['refs/heads/cut', 'refs/tags/named']
    const rename: Fs['rename'] = (from, to) => {
      if (cut.some((ref) => to.endsWith(ref)))
        throw Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'rename' })
      nodeFs.rename(from, to)
    }
    service = await startService({ storeDir: service.storeDir, fs: { ...nodeFs, rename } })
    const fork = { workflow_variant: { slug: 'cut' }, workflow_variant_ref: { slug: 'bot' } }
    expect((await service.post('/variants/fork', fork)).status).to.equal(503)
    const named = { workflow_variant_id: variant, slug: 'named', data: { parameters: { n: 2 } } }
    const commit = { workflow_revision: named }
    expect((await service.post('/workflows/revisions/commit', commit)).status).to.equal(503)
    await service.stop({ keepStore: true })
    const repository = service.repository('bot')
    const build = `${service.storeDir}/default/workflows/.new-${deadProcess()}.1`
    mkdirSync(build)
    ageJournals(service.storeDir, { boot: 'same' })
    for (const name of readdirSync(`${repository}/locks`))
      renameSync(
        `${repository}/locks/${name}`,
        `${repository}/locks/${deadProcess()}.${name.split('.').at(-1)}`,
      )
    expect(git(repository, ['for-each-ref', ...cut])).to.equal('')
    service = await startService({ storeDir: service.storeDir })
    expect(git(repository, ['rev-parse', 'cut'])).to.equal(git(repository, ['rev-parse', 'bot~1']))
    expect(git(repository, ['rev-parse', 'named'])).to.equal(git(repository, ['rev-parse', 'bot']))
    expect(existsSync(build)).to.equal(false)
  })

  it('a named revision that a disk cut off is finished by the next who wants its name, and keeps it', async () => {
    const variant = await create(service, 'bot')
    await service.stop({ keepStore: true })
    let isFailing = true
    const rename: Fs['rename'] = (from, to) => {
      if (isFailing && to.endsWith('refs/tags/named'))
        throw Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'rename' })
      nodeFs.rename(from, to)
    }
    service = await startService({ storeDir: service.storeDir, fs: { ...nodeFs, rename } })
    const commit = () =>
      service.post('/workflows/revisions/commit', {
        workflow_revision: { workflow_variant_id: variant, slug: 'named', data: { parameters: { n: 2 } } },
      })
    expect((await commit()).status).to.equal(503)
    const repository = service.repository('bot')
    const cut = git(repository, ['rev-parse', 'bot'])
    isFailing = false
    const { status, body } = await commit()
    expect([status, body.code]).to.deep.equal([409, 'slug_taken'])
    expect(git(repository, ['rev-parse', 'bot', 'named'])).to.equal(`${cut}\n${cut}`)
  })

  it('refs that somebody removed are not put back by a start, whatever the messages of commits say', async () => {
    const variant = await create(service, 'bot')
    await service.post('/variants/fork', {
      workflow_variant: { slug: 'cut' },
      workflow_variant_ref: { slug: 'bot' },
    })
    await service.post('/workflows/revisions/commit', {
      workflow_revision: { workflow_variant_id: variant, slug: 'named', data: { parameters: { n: 2 } } },
    })
    await service.stop({ keepStore: true })
    const repository = service.repository('bot')
    git(repository, ['update-ref', '-d', 'refs/heads/cut'])
    git(repository, ['update-ref', '-d', 'refs/tags/named'])
    const refs = git(repository, ['for-each-ref'])
    service = await startService({ storeDir: service.storeDir })
    expect(git(repository, ['for-each-ref'])).to.equal(refs)
  })

  it('what cannot be served is named by /ready and does not hold up the rest', async () => {
    await create(service, 'good')
    const folder = `${service.storeDir}/default/workflows`
    cpSync(`${folder}/good.git`, `${folder}/copy.git`, { recursive: true })
    symlinkSync(`${folder}/good.git`, `${folder}/link.git`)
    git('/', ['init', '-q', '--bare', `${folder}/plain.git`])
    git('/', ['init', '-q', '--bare', '--object-format=sha256', `${folder}/sha256.git`])
    cpSync(`${folder}/good.git`, `${folder}/borrows.git`, { recursive: true })
    mkdirSync(`${folder}/borrows.git/objects/info`)
    writeFileSync(`${folder}/borrows.git/objects/info/alternates`, `${folder}/good.git/objects\n`)
    await service.stop({ keepStore: true })
    service = await startService({ storeDir: service.storeDir })
    const { body: counted } = await service.get('/ready', { authorization: '' })
    expect(counted).to.deep.equal({ status: 'ready', artifacts: 4, problems: 5 })
    const { body } = await service.get('/ready')
    expect(body).to.include({ problems: 5 })
    const reasons = new Map(
      body.damaged.map((it: { repository: string; reason: string }) => [it.repository, it.reason]),
    )
    expect([...reasons.keys()]).to.have.members(
      ['borrows', 'copy', 'link', 'plain', 'sha256'].map((it) => `workflows/${it}`),
    )
    expect(reasons.get('workflows/copy')).to.contain('same artifact id as workflows/good')
    expect(reasons.get('workflows/sha256')).to.contain('sha256')
    expect(reasons.get('workflows/borrows')).to.contain('alternates')
    expect(reasons.get('workflows/link')).to.contain('symbolic link')
    expect(reasons.get('workflows/plain')).to.contain('adopted')
    expect((await service.post('/workflows/query')).body.count).to.equal(1)
  })
})

interface Posted {
  readonly status: number
  readonly headers: Headers
  // Answers are looked into freely, as in test/support/servers/service.ts.
  readonly body: any
}

type Post = (path: string, body: object) => Promise<Posted>

function poster({ url }: ChildServer): Post {
  return async (path, body) => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `ApiKey ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
}

async function create(service: RunningService, slug: string): Promise<string> {
  const { body } = await service.post('/simple/workflows/', {
    workflow: { slug, data: { parameters: { n: 0 } } },
  })
  return body.workflow.variant_id
}

function commitWith(post: Post, variant: string, number: number): Promise<Posted> {
  return post('/workflows/revisions/commit', {
    workflow_revision: {
      workflow_variant_id: variant,
      message: `commit ${number}`,
      data: { parameters: { number } },
    },
  })
}

function expectConsecutive(replies: readonly Posted[], repository: string, branch: string): void {
  const versions = replies.map(({ body }) => body.workflow_revision?.version).sort((a, b) => a - b)
  expect(versions).to.deep.equal(Array.from({ length: 50 }, (_, index) => index + 2))
  const subjects = git(repository, ['log', '--format=%s', branch])
    .split('\n')
    .filter((it) => it.startsWith('commit '))
  expect(new Set(subjects).size).to.equal(50)
  expect(git(repository, ['fsck', '--strict'])).to.equal('')
}

/** The name of a process that is dead, as files of its have it. */
function deadProcess(): string {
  const { host, boot } = thisProcess()
  return `${host}.${boot}.999999999.1`
}
