import { expect } from 'chai'
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type PostgresServer, startPostgres } from '../../../support/postgres/postgres.ts'
import { type RunningService, startService } from '../../../support/servers/service.ts'
import { UsageError } from '../../../../src/cli/command/usage-error.ts'
import { EvaluationClient } from '../../../support/clients/evaluation-client.ts'
import { HOOK_ENV } from '../../../support/clients/webhook-client.ts'
import { needsPostgres } from '../../../support/postgres/needs-postgres.ts'
import { runCommand } from './run-command.ts'

/** Ids of what a store has beside its repositories, and a key's text. */
interface Made {
  readonly key: string
  readonly webhook: string
  readonly evaluation: string
}

describe('backup and restore --state', () => {
  let folder: string
  before(() => (folder = mkdtempSync(join(tmpdir(), 'branchpoint-state-'))))
  after(() => rmSync(folder, { recursive: true, force: true }))

  const at = (name: string): string => join(folder, name)

  /** Serves a store while the work is done, and leaves it. */
  const serving = async <T>(
    storeDir: string,
    env: Readonly<Record<string, string>>,
    work: (service: RunningService) => Promise<T>,
  ): Promise<T> => {
    const service = await startService({ storeDir, env: { ...HOOK_ENV, ...env } })
    try {
      return await work(service)
    } finally {
      await service.stop({ keepStore: true })
    }
  }

  const make = async (service: RunningService): Promise<Made> => {
    const { key } = (await service.post('/keys', { key: { name: 'ci', scopes: ['admin'] } })).body
    expect((await service.put('/secrets/ONE', { secret: { value: 'of one' } })).status).to.equal(200)
    const { webhook } = (
      await service.post('/webhooks', {
        webhook: { url: 'http://127.0.0.1:9/', events: ['environment.deployed'] },
      })
    ).body
    const client = new EvaluationClient(service)
    await client.workflow('echo', { uri: 'svc:custom:mock:v0', parameters: { key: 'echo' } })
    const judge = await client.workflow('judge', { uri: 'svc:custom:mock:v0', parameters: { key: 'pass' } })
    await client.testset('rows', [{ n: 1 }, { n: 2 }])
    const run = await service.post('/evaluations/run', {
      testset_ref: { slug: 'rows' },
      application_ref: { slug: 'echo' },
      evaluator_revision_refs: [{ id: judge }],
    })
    expect(run.status, run.text).to.equal(200)
    return { key: key.secret, webhook: webhook.id, evaluation: run.body.evaluation.id }
  }
  const expectAll = async (service: RunningService, { key, webhook, evaluation }: Made): Promise<void> => {
    const headers = { authorization: `ApiKey ${key}` }
    const { secrets } = (await service.get('/secrets', headers)).body
    expect(secrets.map(({ name }: { name: string }) => name)).to.deep.equal(['ONE'])
    const { webhooks } = (await service.post('/webhooks/query', {})).body
    expect(webhooks.map(({ id }: { id: string }) => id)).to.deep.equal([webhook])
    const found = await service.get(`/evaluations/${evaluation}`)
    expect(found.body.evaluation.state, found.text).to.equal('finished')
    const { results } = (await service.post(`/evaluations/${evaluation}/results`)).body
    expect(results).to.have.length(2)
  }

  it('take keys, secrets, webhooks and evaluations from a folder to a folder, and never over others', async () => {
    const made = await serving(at('first'), {}, make)
    const backedUp = await runCommand('backup', ['--to', at('one'), '--store', at('first'), '--state'])
    expect(backedUp.failures).to.deep.equal([])
    expect(backedUp.lines.at(-1)).to.match(/^[5-9] files of keys, secrets, webhooks and evaluations\./)
    for (const name of ['secrets.key', 'default/keys.json', 'default/secrets.json'])
      expect(statSync(join(at('one'), name)).mode & 0o777, name).to.equal(0o600)
    const restored = await runCommand('restore', ['--from', at('one'), '--store', at('second'), '--state'])
    expect(restored.failures).to.deep.equal([])
    await serving(at('second'), {}, (service) => expectAll(service, made))

    const again = await runCommand('restore', ['--from', at('one'), '--store', at('first'), '--state'])
    expect([again.failures, again.lines.at(-1)?.startsWith('0 files')]).to.deep.equal([[], true])
    await serving(at('second'), {}, async (service) => {
      await service.post('/keys', { key: { name: 'another', scopes: ['read'] } })
    })
    const over = await runCommand('restore', ['--from', at('one'), '--store', at('second'), '--state'])
    expect(over.failures.join('\n')).to.contain('default/keys.json: the store has another one')
    await serving(at('second'), {}, async (service) => {
      expect((await service.get('/keys')).text).to.contain('"another"')
    })
  })

  it('bring nothing that no server writes, and say which file that is', async () => {
    const { webhook, evaluation } = await serving(at('hostile'), {}, make)
    await runCommand('backup', ['--to', at('tampered'), '--store', at('hostile'), '--state'])
    const files = {
      'default/keys.json': '{"format": 1, "keys": [{"name": "eve", "scopes": ["admin"]}]}',
      'default/secrets.json': '[]',
      'secrets.key': 'short',
      'default/webhooks/told': 'no JSON',
      [`default/webhooks/${webhook}/webhook.json`]: '{"url": "http://169.254.169.254/"}',
      [`default/webhooks/${webhook}/deliveries/${webhook}.json`]: '{}',
      [`default/evaluations/${evaluation}.jsonl`]: '{"row": 1}\n',
      'default/evaluations/x.jsonl': '',
      'default/webhooks/x/y': '',
    }
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(at('tampered'), path)), { recursive: true })
      writeFileSync(join(at('tampered'), path), text)
    }
    const restored = await runCommand('restore', [
      '--from',
      at('tampered'),
      '--store',
      at('clean'),
      '--state',
    ])
    expect(restored.failures.map((failure) => failure.split(':')[0]).sort()).to.deep.equal(
      Object.keys(files).sort(),
    )
    for (const path of Object.keys(files)) expect(existsSync(join(at('clean'), path)), path).to.equal(false)
  })

  it('forget what the store has no more, and leave out what is not asked for', async () => {
    await serving(at('third'), {}, make)
    await runCommand('backup', ['--to', at('three'), '--store', at('third'), '--state'])
    expect(existsSync(join(at('three'), 'default/secrets.json'))).to.equal(true)
    rmSync(join(at('third'), 'default/secrets.json'))
    await runCommand('backup', ['--to', at('three'), '--store', at('third'), '--state'])
    expect(existsSync(join(at('three'), 'default/secrets.json'))).to.equal(false)
    const plain = await runCommand('backup', ['--to', at('plain'), '--store', at('third')])
    expect(plain.lines.at(-1)).to.contain('without --state')
    expect(existsSync(join(at('plain'), 'default/keys.json'))).to.equal(false)
    await runCommand('restore', ['--from', at('three'), '--store', at('fourth')])
    expect(existsSync(join(at('fourth'), 'default/keys.json'))).to.equal(false)
  })

  for (const [command, end] of [
    ['backup', '--to'],
    ['restore', '--from'],
  ] as const)
    it(`is refused to ${command} over HTTP`, async () => {
      const args = [end, at('http'), '--url', 'http://127.0.0.1:9', '--key', 'k', '--state']
      const error: unknown = await runCommand(command, args).catch((it: unknown) => it)
      expect(error).to.be.instanceOf(UsageError)
      expect((error as Error).message).to.contain('--state')
    })

  describe('with a database', function () {
    let postgres: PostgresServer
    before(async function () {
      needsPostgres(this)
      postgres = await startPostgres()
    })
    after(() => postgres?.stop())

    it('take them from a folder into a database, and from there into a folder', async () => {
      const url = await postgres.database()
      const made = await serving(at('files'), {}, make)
      await runCommand('backup', ['--to', at('in'), '--store', at('files'), '--state'])
      const into = await runCommand('restore', ['--from', at('in'), '--to', url, '--state'])
      expect(into.failures).to.deep.equal([])
      const env = { STORE: url, CACHE_DIR: at('copy') }
      await serving(at('copy'), env, (service) => expectAll(service, made))
      const out = await runCommand('backup', ['--to', at('out'), '--from', url, '--state'])
      expect(out.failures).to.deep.equal([])
      const back = await runCommand('restore', ['--from', at('out'), '--store', at('back'), '--state'])
      expect(back.failures).to.deep.equal([])
      await serving(at('back'), {}, (service) => expectAll(service, made))
    })
  })
})
