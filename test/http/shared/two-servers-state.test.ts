import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres/postgres.ts'
import { ADMIN_KEY, type RunningService, startService } from '../../support/servers/service.ts'
import { EvaluationClient } from '../../support/clients/evaluation-client.ts'
import { startProcess } from '../evaluations/server-process.ts'
import { TestFollower, type Told } from '../events/follower.ts'
import { startReceiver } from '../../support/servers/receiver.ts'
import { HOOK_ENV } from '../../support/clients/webhook-client.ts'

describe('http: what two servers over one PostgreSQL know beside repositories', function () {
  let postgres: PostgresServer
  let url: string
  let here: RunningService
  let there: RunningService

  const server = (): Promise<RunningService> => {
    const folder = mkdtempSync(join(tmpdir(), 'branchpoint-copy-'))
    const env = { ...HOOK_ENV, HOOK_ALLOW_PRIVATE: 'true', STORE: url, CACHE_DIR: folder }
    return startService({ storeDir: folder, env })
  }
  before(async function () {
    needsPostgres(this)
    postgres = await startPostgres()
    url = await postgres.database()
    here = await server()
    there = await server()
  })
  after(async () => {
    await here?.stop()
    await there?.stop()
    await postgres?.stop()
  })

  const posted = async (
    to: RunningService,
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ) => {
    const reply = await to.post(path, body, headers)
    expect(reply.status, reply.text).to.equal(200)
    return reply.body
  }
  const statusWith = async (to: RunningService, token: string): Promise<number> =>
    (await to.call('POST', '/workflows/query', {}, { Authorization: `ApiKey ${token}` })).status

  /** The command line over the database; its input is a value. */
  const branchpoint = async (...args: string[]): Promise<{ stdout: string; stderr: string }> => {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      env: { ...process.env, STORE: url, STORE_DIR: '/nowhere', SVC_API_KEY: ADMIN_KEY, SECRETS_KEY: '' },
    })
    child.stdin.end('a value')
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    return { stdout, stderr }
  }

  it('a key made at one opens the other, and revoked there opens neither', async () => {
    const { key } = await posted(here, '/keys', { key: { name: 'ci', scopes: ['read'] } })
    expect([await statusWith(there, key.secret), await statusWith(here, key.secret)]).to.deep.equal([
      200, 200,
    ])
    expect((await there.call('DELETE', `/keys/${key.id}`)).status).to.equal(200)
    expect([await statusWith(here, key.secret), await statusWith(there, key.secret)]).to.deep.equal([
      401, 401,
    ])
  })

  it('a project has one name whatever its case, made at both at once and by the command line', async () => {
    const make = (at: RunningService, name: string) => at.post('/projects', { project: { name } })
    const replies = await Promise.all([make(here, 'Pair'), make(there, 'pair'), make(here, 'PAIR')])
    expect(replies.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409])
    const { project, key } = replies.find(({ status }) => status === 200)?.body ?? {}
    for (const at of [here, there]) {
      const current = await at.get('/projects/current', { Authorization: `ApiKey ${key.secret}` })
      expect(current.body.project.name).to.equal(project.name)
      expect((await at.get('/projects')).body.projects).to.deep.include({ name: project.name })
    }
    const { entries } = await posted(there, '/audit/query', { audit: { kind: ['project', 'key'] } })
    expect(entries).to.have.lengthOf.at.least(1)
    expect(entries.map((it: { project?: { name: string } }) => it.project?.name)).to.include(project.name)
    const other = project.name === 'pair' ? 'Pair' : 'pair'
    const create = (name: string) =>
      branchpoint('keys', 'create', '--name', 'me', '--scopes', 'read', '--project', name)
    expect((await create(other)).stderr).to.contain(`"${project.name}" already`)
    expect(await statusWith(there, (await create(project.name)).stdout.trim())).to.equal(200)
  })

  it('a backup of one has what was made at the other', async () => {
    await posted(here, '/simple/workflows', { workflow: { slug: 'kept', data: { parameters: { a: 1 } } } })
    const headers = { authorization: `ApiKey ${ADMIN_KEY}` }
    const tar = await fetch(`${there.url}/projects/current/backup`, { headers })
    expect(Buffer.from(await tar.arrayBuffer()).toString('latin1')).to.contain('workflows/kept.bundle')
  })

  it('a key that expires is refused by both from then on', async () => {
    const expires_at = new Date(Date.now() + 1000).toISOString()
    const { key } = await posted(here, '/keys', { key: { name: 'brief', scopes: ['read'], expires_at } })
    const made = await there.post('/keys/query', { key: { name: 'brief' } })
    expect(made.body.keys[0].expires_at).to.equal(expires_at)
    await pause(Date.parse(expires_at) - Date.now() + 1)
    expect([await statusWith(here, key.secret), await statusWith(there, key.secret)]).to.deep.equal([
      401, 401,
    ])
  })

  it('the command line makes, lists and revokes keys of the database, also several at once', async () => {
    const made = await Promise.all(
      ['one', 'two', 'three'].map((name) =>
        branchpoint('keys', 'create', '--name', name, '--scopes', 'read'),
      ),
    )
    const tokens = made.map(({ stdout }) => stdout.trim())
    for (const [number, token] of tokens.entries())
      expect(await statusWith(number % 2 ? here : there, token), made[number]?.stderr).to.equal(200)
    const listed = await branchpoint('keys', 'list', '--jsonl')
    for (const name of ['one', 'two', 'three']) expect(listed.stdout).to.contain(`"name":"${name}"`)
    expect((await branchpoint('keys', 'revoke', '--name', 'two')).stdout).to.match(/^Revoked "two"/)
    expect(await statusWith(here, tokens[1] ?? '')).to.equal(401)
    expect((await branchpoint('keys', 'list', '--project', 'none')).stdout).to.contain(
      'the database in STORE',
    )
  })

  it('the command line sets secrets of the database, and signs in', async () => {
    const set = await branchpoint('secrets', 'set', 'FROM_SHELL')
    expect(set.stdout, set.stderr).to.contain('Set FROM_SHELL')
    const { secrets } = (await there.get('/secrets')).body
    expect(secrets.map(({ name }: { name: string }) => name)).to.include('FROM_SHELL')
    expect((await branchpoint('secrets', 'remove', 'FROM_SHELL')).stdout).to.contain('Removed FROM_SHELL')
    const { stdout } = await branchpoint('open')
    const token = decodeURIComponent(stdout.trim().split('#token=').at(-1) ?? '')
    const signedIn = await here.call('POST', '/sessions', { session: { token } })
    expect(signedIn.status, `${stdout} ${signedIn.text}`).to.equal(200)
  })

  it('a run at one is a trace at the other: by its id, in a list, by a filter, as a tree; removed there it is gone here', async () => {
    const invocation = { data: { inputs: { n: 1 }, parameters: { key: 'echo' } } }
    await posted(here, '/services/mock/v0/invoke', invocation)
    // Who asks where it ran waits until it is stored.
    const id: string = (await posted(here, '/traces/query', { windowing: { limit: 1 } })).traces[0].trace_id
    const seen = await there.get(`/traces/${id}`)
    expect(seen.status, seen.text).to.equal(200)
    expect(seen.text).to.equal((await here.get(`/traces/${id}`)).text)
    const listed = await posted(there, '/traces/query', { windowing: { limit: 1 } })
    expect(listed.traces.map((it: { trace_id: string }) => it.trace_id)).to.deep.equal([id])
    const filtering = { conditions: [{ field: 'attributes', key: 'svc.data.inputs.inputs.n', value: 1 }] }
    expect((await posted(there, '/spans/query', { filtering })).count).to.equal(1)
    expect((await there.call('DELETE', `/traces/${id}`)).status).to.equal(200)
    expect((await here.get(`/traces/${id}`)).status).to.equal(404)
  })

  it('secrets set at both at once are kept, and read at either', async () => {
    const set = (to: RunningService, name: string) =>
      to.put(`/secrets/${name}`, { secret: { value: `of ${name}` } })
    const replies = await Promise.all([set(here, 'ONE'), set(there, 'TWO'), set(here, 'THREE')])
    for (const reply of replies) expect(reply.status, reply.text).to.equal(200)
    for (const service of [here, there]) {
      const { secrets } = (await service.get('/secrets')).body
      expect(secrets.map(({ name }: { name: string }) => name)).to.deep.equal(['ONE', 'THREE', 'TWO'])
    }
  })

  it('a request with an Idempotency-Key is carried out once, whichever it is sent to, at once or later', async () => {
    const headers = { 'Idempotency-Key': 'once' }
    const body = { workflow: { slug: 'once', data: { parameters: { n: 1 } } } }
    const sent = await Promise.all(
      [here, there, here, there].map((to) => posted(to, '/simple/workflows/', body, headers)),
    )
    expect(new Set(sent.map(({ workflow }) => workflow.id)).size).to.equal(1)
    const again = await posted(there, '/simple/workflows/', body, headers)
    expect(again.workflow.id).to.equal(sent[0].workflow.id)
    expect((await posted(here, '/workflows/query', { workflow: { slug: 'once' } })).count).to.equal(1)
    const other = await there.post('/simple/workflows/', { workflow: { slug: 'twice' } }, headers)
    expect([other.status, other.body.code]).to.deep.equal([422, 'idempotency_key_reused'])
  })

  it('an event is delivered once, whichever wrote it, and both show the delivery', async () => {
    const receiver = await startReceiver()
    try {
      const { webhook } = await posted(here, '/webhooks', {
        webhook: { url: receiver.url, events: ['revision.committed'] },
      })
      const { workflow } = await posted(here, '/simple/workflows/', {
        workflow: { slug: 'told', data: { parameters: { n: 1 } } },
      })
      for (let n = 2; n <= 9; n++)
        await posted(n % 2 ? here : there, '/workflows/revisions/commit', {
          workflow_revision_commit: { workflow_variant_id: workflow.variant_id, data: { parameters: { n } } },
        })
      await receiver.waitFor(9)
      const settled = async (at: RunningService): Promise<string[]> => {
        for (;;) {
          const { deliveries } = await posted(at, `/webhooks/${webhook.id}/deliveries/query`)
          const over = deliveries.filter(({ status }: { status: string }) => status === 'delivered')
          if (over.length >= 9) return over.map(({ id }: { id: string }) => id)
          await pause(20)
        }
      }
      const [one, two] = [await settled(here), await settled(there)]
      expect(one).to.deep.equal(two)
      expect(one).to.have.length(9)
      expect(receiver.received).to.have.length(9)
      const again = await posted(there, `/webhooks/deliveries/${one[0]}/redeliver`)
      await receiver.waitFor(10)
      expect(again.delivery.redelivery_of).to.equal(one[0])
    } finally {
      await receiver.stop()
    }
  })

  /** Has an evaluation run, of rows each of which is slow and in which nothing else happens. */
  const begin = async (
    run: (order: object) => Promise<{ readonly body: any }>,
    slug: string,
  ): Promise<string> => {
    const client = new EvaluationClient(here)
    const data = {
      uri: 'svc:custom:mock:v0',
      parameters: { key: 'delay', kwargs: { seconds: 0.1, then: 'echo' } },
    }
    await client.workflow(slug, data)
    await client.testset(
      slug,
      Array.from({ length: ROWS }, (_, n) => ({ n })),
    )
    const judge = await client.workflow(`${slug}-judge`, {
      uri: 'svc:custom:mock:v0',
      parameters: { key: 'pass' },
    })
    const order = {
      testset_ref: { slug },
      application_ref: { slug },
      evaluator_revision_refs: [{ id: judge }],
      concurrency: 2,
      wait: false,
    }
    return (await run(order)).body.evaluation.id
  }
  const until = async (at: RunningService, id: string, is: (evaluation: any) => boolean): Promise<any> => {
    for (;;) {
      const { evaluation } = (await at.get(`/evaluations/${id}`)).body
      if (is(evaluation)) return evaluation
      await pause(50)
    }
  }
  const expectAllRows = async (at: RunningService, id: string): Promise<void> => {
    const { results } = await posted(at, `/evaluations/${id}/results`)
    const rows = results.map(({ testcase_id: row }: { testcase_id: string }) => row)
    expect([rows.length, new Set(rows).size]).to.deep.equal([ROWS, ROWS])
  }

  it('an evaluation run at one is shown by the other, and goes on there when its server stops', async () => {
    const id = await begin((order) => here.post('/evaluations/run', order), 'slow')
    const shown = await until(there, id, ({ summary }) => summary.done > 2)
    expect(shown.state).to.equal('running')
    expect((await there.post(`/evaluations/${id}/resume`)).body.code).to.equal('locked')
    await here.stop()
    const over = await until(there, id, ({ state }) => state === 'finished')
    expect(over.summary.done).to.equal(ROWS)
    await expectAllRows(there, id)
    here = await server()
    expect((await here.get(`/evaluations/${id}`)).body.evaluation.state).to.equal('finished')
  })

  it('who follows events at one hears that an evaluation begins and ends at the other', async () => {
    const follower = await TestFollower.open(there.url)
    try {
      const id = await begin((order) => here.post('/evaluations/run', order), 'heard')
      const isOfIt = ({ data }: Told): boolean => data.references.evaluation?.id === id
      await follower.find((told) => isOfIt(told) && told.data.action === 'finished')
      expect(follower.events.filter(isOfIt).map(({ data }) => data.action)).to.deep.equal([
        'started',
        'finished',
      ])
    } finally {
      follower.close()
    }
  })

  it('an evaluation that somebody stops stays stopped, until somebody resumes it, at whichever', async () => {
    const id = await begin((order) => here.post('/evaluations/run', order), 'stopped')
    await until(there, id, ({ summary }) => summary.done > 2)
    expect((await posted(here, `/evaluations/${id}/stop`)).evaluation.state).to.equal('interrupted')
    await pause(6000)
    expect((await there.get(`/evaluations/${id}`)).body.evaluation.state).to.equal('interrupted')
    await posted(there, `/evaluations/${id}/resume`)
    await expectAllRows(here, id)
  })

  it('an evaluation whose server is killed goes on at another', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'branchpoint-copy-'))
    const doomed = await startProcess(folder, { STORE: url, CACHE_DIR: folder })
    const id = await begin((order) => doomed.call('POST', '/evaluations/run', order), 'killed')
    await until(there, id, ({ summary }) => summary.done > 2)
    await doomed.end('SIGKILL')
    const over = await until(there, id, ({ state }) => state === 'finished')
    expect(over.summary.done).to.equal(ROWS)
    await expectAllRows(here, id)
    rmSync(folder, { recursive: true })
  })
})

const PROGRAM = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))

const ROWS = 60
