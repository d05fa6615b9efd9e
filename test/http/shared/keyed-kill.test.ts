import { expect } from 'chai'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { ask, type PostgresServer, startPostgres } from '../../support/postgres/postgres.ts'
import { ADMIN_KEY, type RunningService, startService } from '../../support/servers/service.ts'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'
import { startProcess } from '../evaluations/server-process.ts'
import { commitOf, data } from '../keyed-operations.ts'

/** Has whoever writes the result of an intent wait until nobody holds the lock 42. */
const WAIT_BEFORE_RESULTS = `
create function wait_before_result() returns trigger language plpgsql as $$
begin
  if new.path like '%/idempotency/%.json' and position('"result"' in convert_from(new.bytes, 'utf8')) > 0 then
    perform pg_advisory_xact_lock(42);
  end if;
  return new;
end $$;
create trigger wait_before_result before insert on branchpoint.document_parts
  for each row execute function wait_before_result();`

describe('http: a server that is killed between a keyed write and its result', function () {
  let postgres: PostgresServer
  let url: string
  let folders: string[]
  let service: RunningService | undefined

  before(async function () {
    needsPostgres(this)
    postgres = await startPostgres()
    url = await postgres.database()
    folders = []
  })
  after(async () => {
    await service?.stop()
    await postgres?.stop()
    for (const folder of folders ?? []) rmSync(folder, { recursive: true, force: true })
  })

  const newFolder = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'branchpoint-copy-'))
    folders.push(folder)
    return folder
  }

  it('leaves to a new one what it needs to answer the first result: one revision, deployed once', async () => {
    const folder = newFolder()
    const doomed = await startProcess(folder, { STORE: url, CACHE_DIR: folder })
    const headers = { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': 'application/json' }
    const created = await doomed.call('POST', '/simple/workflows/', { workflow: { slug: 'bot', data } })
    const body = commitOf(created.body.workflow.variant_id, { deploy: ['production'] })
    const path = '/workflows/revisions/commit'
    await ask(url, WAIT_BEFORE_RESULTS)
    const holder = new Client({ connectionString: url })
    await holder.connect()
    await holder.query('select pg_advisory_lock(42)')
    const sending = fetch(doomed.url + path, {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': 'once' },
      body: JSON.stringify(body),
    }).then(
      () => 'answered',
      () => 'cut off',
    )
    const waiting = `select pid from pg_locks where locktype = 'advisory' and objid = 42 and not granted`
    while ((await ask(url, waiting)).length === 0) await pause(20)
    await doomed.end('SIGKILL')
    expect(await sending).to.equal('cut off')
    await ask(url, `select pg_terminate_backend(pid) from (${waiting}) as waiting`)
    await holder.end()
    // The dead one held it; in ten seconds it would be over by itself.
    await ask(url, 'update branchpoint.leases set until = now()')

    const fresh = newFolder()
    service = await startService({ storeDir: fresh, env: { STORE: url, CACHE_DIR: fresh } })
    const first = await service.post(path, body, { 'idempotency-key': 'once' })
    expect(first.status, first.text).to.equal(200)
    expect(first.body.workflow_revision.version).to.equal(2)
    expect(first.body.deployments).to.have.length(1)
    const again = await service.post(path, body, { 'idempotency-key': 'once' })
    expect(again.headers.get('idempotent-replayed')).to.equal('true')
    expect(again.body.workflow_revision.id).to.equal(first.body.workflow_revision.id)
    const deployed = await service.post('/workflows/revisions/retrieve', {
      workflow_ref: { slug: 'bot' },
      environment_ref: { slug: 'production' },
    })
    expect(deployed.body.workflow_revision.id).to.equal(first.body.workflow_revision.id)
    const log = await service.post('/workflows/revisions/log', {
      workflow: { workflow_id: created.body.workflow.id },
    })
    expect(log.body.count).to.equal(2)
  })
})
