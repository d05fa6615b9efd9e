import { expect } from 'chai'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ask, type PostgresServer, startPostgres } from '../../support/postgres/postgres.ts'
import { type Reply, type RunningService, startService } from '../../support/servers/service.ts'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'

/** What a busy or failing database says, an error or more of each class. */
const TROUBLES: readonly string[] = [
  ...['08000', '08006', '08P01', '0A000', '25000', '25006', '25P02', '25P03', '26000', '28000', '28P01'],
  ...['2D000', '3D000', '3F000', '40001', '40003', '40P01', '42501', '42883', '42P01', '53000', '53100'],
  ...['53200', '53300', '53400', '54000', '54001', '55000', '55006', '55P03', '57000', '57014', '57P01'],
  ...['57P02', '57P03', '57P04', '57P05', '58000', '58030', '58P01', '72000', 'F0000', 'F0001', 'P0001'],
  ...['XX000', 'XX001', 'XX002'],
]

/** What says that a statement of ours is wrong. */
const BUGS: readonly string[] = ['22012', '23505', '42601']

describe('http: what a database says that is busy or fails', function () {
  let postgres: PostgresServer
  let url: string
  let services: RunningService[]

  before(async function () {
    needsPostgres(this)
    postgres = await startPostgres()
  })
  beforeEach(async () => {
    url = await postgres.database()
    services = []
    for (let count = 0; count < 2; count++) {
      const folder = mkdtempSync(join(tmpdir(), 'branchpoint-copy-'))
      services.push(await startService({ storeDir: folder, env: { STORE: url, CACHE_DIR: folder } }))
    }
  })
  afterEach(async () => {
    for (const service of services) await service.stop()
  })
  after(() => postgres?.stop())

  const created = (slug: string, at = 0): Promise<Reply> =>
    services[at % services.length]!.post('/simple/workflows/', {
      workflow: { slug, data: { parameters: { number: 1 } } },
    })

  it('is 503 to a write, whichever class of errors it is, and never 500', async () => {
    expect((await created('bot')).status).to.equal(200)
    // What a slug ends with is raised when it is claimed.
    await ask(
      url,
      `create function fail() returns trigger language plpgsql as $$
      begin
        if new.name ~ 'code-[0-9A-Za-z]{5}$' then
          raise exception 'on purpose' using errcode = upper(right(new.name, 5));
        end if;
        return new;
      end $$;
      create trigger fail before insert on branchpoint.names for each row execute function fail()`,
    )
    const answers = new Map<string, Reply>()
    for (const code of TROUBLES) answers.set(code, await created(`code-${code}`))
    for (const [code, { status, body, headers }] of answers) {
      expect([code, status, body.code]).to.deep.equal([code, 503, 'storage_unavailable'])
      expect(headers.get('retry-after'), code).to.match(/^\d+$/)
      expect(body.detail, code).to.contain('on purpose')
    }
    for (const code of BUGS) expect((await created(`code-${code}`)).status, code).to.equal(500)
    // Nothing of it is there, and the servers go on.
    expect((await created('next', 1)).status).to.equal(200)
    const { body } = await services[0]!.post('/workflows/query', {})
    expect(body.workflows.map((it: any) => it.slug).sort()).to.deep.equal(['bot', 'next'])
  })

  it('is 503 to a read and to what lies outside of repositories', async () => {
    expect((await created('bot')).status).to.equal(200)
    await ask(
      url,
      `create function fail() returns bigint language plpgsql as $$
      begin
        raise exception 'on purpose' using errcode = '57014';
      end $$;
      alter table branchpoint.streams rename to streams_of_before;
      create view branchpoint.streams as select id, holder, fail() as n, mark, trimmed, beat from branchpoint.streams_of_before`,
    )
    const read = await services[1]!.post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'bot' } })
    expect([read.status, read.body.code], read.text).to.deep.equal([503, 'storage_unavailable'])
    const key = await services[0]!.post('/keys', { key: { name: 'ci', scopes: ['read'] } })
    expect([key.status, key.body.code], key.text).to.deep.equal([503, 'storage_unavailable'])
    await ask(
      url,
      'drop view branchpoint.streams; alter table branchpoint.streams_of_before rename to streams',
    )
    const again = await services[1]!.post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'bot' } })
    expect(again.status, again.text).to.equal(200)
  })

  it('of twelve creations of one slug at once makes one and refuses eleven, though an answer is lost', async () => {
    // The first append of each server takes longer than it is waited for, and happens.
    await ask(
      url,
      `create sequence appends;
      create function dawdle() returns trigger language plpgsql as $$
      begin
        if nextval('public.appends') <= 2 then perform pg_sleep(6); end if;
        return new;
      end $$;
      create trigger dawdle before update on branchpoint.streams for each row when (new.n > old.n) execute function dawdle()`,
    )
    const answers = await Promise.all(Array.from({ length: 12 }, (_, number) => created('same', number)))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses, answers.map(({ text }) => text).join('\n')).to.deep.equal([200, ...Array(11).fill(409)])
    const refused = answers.filter(({ status }) => status === 409).map(({ body }) => body.code)
    expect(new Set(refused)).to.deep.equal(new Set(['slug_taken']))
  })
})
