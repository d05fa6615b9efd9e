import { expect } from 'chai'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { ChildServer } from '../../support/servers/child-server.ts'
import { KEY, startBranchpoint } from '../../support/servers/child-server.ts'
import { git } from '../../support/git/git-program.ts'
import type { EnvironmentClient } from './environment-client.ts'
import { digitsOf, eventually, startEnvironments } from './environment-client.ts'

describe('environments: many deployments at once', () => {
  const DEPLOYMENTS = 300
  const READERS = 16
  let client: EnvironmentClient
  // together they are more than a server takes at once unless it is told
  before(async () => (client = await startEnvironments({ env: { MAX_REQUESTS: '2000' } })))
  after(() => client.stop())

  it('readers never miss a whole revision, the log has them all, mirror and environment agree', async () => {
    const bot = await client.application(0)
    const padding = 'x'.repeat(200)
    importRevisions(client.service.repository(bot.slug), bot.slug, DEPLOYMENTS, (n) => ({
      parameters: { n, padding, again: n },
    }))
    const revisions: string[] = (await client.applications.log(bot.variantId)).map(({ id }) => id)
    expect(revisions).to.have.length(DEPLOYMENTS)
    await client.deployed('production', { application_revision_ref: { id: revisions[0] } })
    const deployed = new Set(revisions)
    let isOver = false
    const read = async (): Promise<number> => {
      let answers = 0
      for (; !isOver; answers++) {
        const { status, text, body } = await client.retrieve({
          environment_ref: { slug: 'production' },
          ...(answers % 2 ? { application_ref: { slug: bot.slug } } : {}),
        })
        expect(status, text).to.equal(200)
        const { application_revision, retrieval_info } = body
        const { n, again } = application_revision.data.parameters
        expect(deployed.has(application_revision.id)).to.equal(true)
        expect([application_revision.data.parameters.padding, again]).to.deep.equal([padding, n])
        expect(retrieval_info.references.application_revision.id).to.equal(application_revision.id)
        await pause(20)
      }
      return answers
    }
    const readers = Array.from({ length: READERS }, read)
    const writing = Promise.all(
      revisions
        .slice(1)
        .map((id) => client.deploy('production', { application_revision_ref: { id }, message: id })),
    )
    const replies = await writing.finally(() => (isOver = true))
    for (const { status, text } of replies) expect(status, text).to.equal(200)
    for (const answers of await Promise.all(readers)) expect(answers).to.be.greaterThan(0)

    const subjects = client.git('production', 'log', '--format=%s').split('\n')
    expect(subjects).to.have.length(DEPLOYMENTS)
    expect(new Set(subjects.slice(0, -1))).to.deep.equal(new Set(revisions.slice(1)))
    expect(await client.latest('production')).to.include({ version: DEPLOYMENTS })
    const { id } = (await client.pins('production'))[`${bot.slug}.revision`].application_revision
    expect(id).to.equal(subjects[0])
    expect(client.mirror(bot.slug, 'production')?.slice(0, 12)).to.equal(digitsOf(id))
    expect(client.git('production', 'fsck', '--strict')).to.equal('')
    expect(client.gitOf(bot.slug, 'fsck', '--strict')).to.equal('')
  })
})

describe('environments: several servers on one store', () => {
  let storeDir: string
  let servers: ChildServer[]
  beforeEach(async () => {
    storeDir = mkdtempSync(join(tmpdir(), 'branchpoint-deploys-'))
    servers = [await started()]
  })
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.stop()))
    rmSync(storeDir, { recursive: true })
  })

  const started = (): Promise<ChildServer> => startBranchpoint(storeDir, { LOG_LEVEL: 'info' })
  const post = async (server: ChildServer | undefined, path: string, body: object): Promise<any> => {
    const response = await fetch(server?.url + path, {
      method: 'POST',
      headers: { authorization: `ApiKey ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    expect(response.status, text).to.equal(200)
    return JSON.parse(text)
  }
  const committed = async (variant: string, n: number): Promise<string> => {
    const fields = { application_variant_id: variant, data: { parameters: { n } } }
    const path = '/applications/revisions/commit'
    return (await post(servers[0], path, { application_revision: fields })).application_revision.id
  }
  const deploy = (server: ChildServer | undefined, id: string | undefined): Promise<any> =>
    post(server, '/applications/revisions/deploy', {
      application_revision_ref: { id },
      environment_ref: { slug: 'production' },
      message: id,
    })
  const environment = (...args: readonly string[]): string =>
    git(join(storeDir, 'default/environments/production.git'), args)
  const mirror = (): string =>
    git(join(storeDir, 'default/workflows/bot.git'), ['rev-parse', 'refs/environments/production'])
  const created = async (): Promise<string> => {
    const application = { slug: 'bot', data: { parameters: { n: 0 } } }
    return (await post(servers[0], '/simple/applications/', { application })).application.variant_id
  }
  /** Expects the mirror to be where the environment's newest commit says. */
  const expectAgreement = async (): Promise<void> => {
    const newest = (): string => digitsOf(environment('log', '-1', '--format=%s'))
    await eventually(() => mirror().startsWith(newest()), 'the mirror is where the environment says')
    for (const repository of ['environments/production.git', 'workflows/bot.git']) {
      // A killed server may leave the objects of a write that it did not answer.
      expect(git(join(storeDir, 'default', repository), ['fsck', '--strict', '--no-dangling'])).to.equal('')
    }
  }

  it('deploy against each other: nothing is lost, each sees the other at once, the mirror agrees', async () => {
    servers.push(await started())
    const variant = await created()
    const ids = await inParallel(10, 40, (n) => committed(variant, n))
    await inParallel(12, ids.length, async (n) => {
      const { application_revision } = await deploy(servers[n % 2], ids[n])
      expect(application_revision.id).to.equal(ids[n])
    })
    expect(new Set(environment('log', '--format=%s').split('\n'))).to.deep.equal(new Set(ids))
    await expectAgreement()
    for (const [n, server] of servers.entries()) {
      await deploy(servers[1 - n], ids[n])
      const { application_revision } = await post(server, '/applications/revisions/retrieve', {
        environment_ref: { slug: 'production' },
      })
      expect(application_revision.id).to.equal(ids[n])
    }
    await expectAgreement()
  })

  it('killed in the middle of deployments: what was answered is there, and the next start moves the mirror', async () => {
    const variant = await created()
    const ids = await inParallel(10, 40, (n) => committed(variant, n))
    for (const first of [0, 20]) {
      const answered: string[] = []
      const load = ids.slice(first, first + 20).map((id) =>
        deploy(servers[0], id).then(
          () => void answered.push(id),
          () => undefined,
        ),
      )
      await eventually(() => answered.length > 0, 'a deployment was answered')
      await servers[0]?.kill()
      await Promise.all(load)
      servers = [await started()]
      expect(environment('log', '--format=%s').split('\n')).to.include.members(answered)
      await expectAgreement()
    }
  })

  it('killed in the middle of commits that are deployed: all of one or nothing of it', async () => {
    const variant = await created()
    const deployments = ['production', 'staging']
    let answers = 0
    for (let round = 0; round < 2; round++) {
      const before = answers
      const load = Array.from({ length: 20 }, (_, n) =>
        post(servers[0], '/applications/revisions/commit', {
          application_revision: {
            application_variant_id: variant,
            data: { parameters: { n } },
            deploy: deployments,
          },
        }).then(
          () => void answers++,
          () => undefined,
        ),
      )
      await eventually(() => answers > before, 'a commit was answered')
      await servers[0]?.kill()
      await Promise.all(load)
      servers = [await started()]
      const log = git(join(storeDir, 'default/workflows/bot.git'), ['log', '--format=%H', 'bot'])
      const made = log.split('\n').slice(0, -1)
      expect(made.length).to.be.at.least(answers)
      for (const slug of deployments) {
        const folder = join(storeDir, `default/environments/${slug}.git`)
        const format = '--format=%(trailers:key=Deploy-To,valueonly,separator=)'
        const deployed = git(folder, ['log', format]).split('\n')
        expect(deployed.map((line) => digitsOf(line.split(' ')[1] ?? ''))).to.deep.equal(
          made.map((oid) => oid.slice(0, 12)),
        )
        const ref = `refs/environments/${slug}`
        expect(git(join(storeDir, 'default/workflows/bot.git'), ['rev-parse', ref])).to.equal(made[0])
        expect(git(folder, ['fsck', '--strict', '--no-dangling'])).to.equal('')
      }
    }
  })
})

/** Makes revisions on a branch that has none, by git itself. */
function importRevisions(
  repository: string,
  branch: string,
  count: number,
  dataOf: (n: number) => object,
): void {
  let stream = ''
  for (let n = 1; n <= count; n++) {
    const data = `${JSON.stringify(dataOf(n), null, 2)}\n`
    stream +=
      `commit refs/heads/${branch}\ncommitter Ann <ann@example.com> ${1_700_000_000 + n} +0000\n` +
      `data <<END\nChange ${n}\nEND\nM 100644 inline data.json\ndata ${data.length}\n${data}\n`
  }
  git(repository, ['-c', 'fastimport.unpackLimit=0', 'fast-import', '--quiet'], stream)
}

/** Does so many things, so many at a time; answers what they came to, in order. */
async function inParallel<T>(
  width: number,
  count: number,
  work: (n: number) => Promise<T>,
): Promise<readonly T[] & T[]> {
  const results: T[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) {
      const n = next++
      results[n] = await work(n)
    }
  }
  await Promise.all(Array.from({ length: width }, worker))
  return results
}
