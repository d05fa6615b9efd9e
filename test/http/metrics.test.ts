import { once } from 'node:events'
import { request } from 'node:http'
import { expect } from 'chai'
import { createApiKey } from '../../src/access/keys/api-keys.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { ADMIN_KEY, type RunningService, startService } from '../support/servers/service.ts'

describe('GET /metrics', () => {
  let service: RunningService
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  async function value(series: string): Promise<number> {
    const { text } = await service.get('/metrics')
    const line = text.split('\n').find((it) => it.startsWith(`${series} `))
    return Number(line?.slice(series.length + 1) ?? Number.NaN)
  }

  it('asks for a key that may read', async () => {
    const answers = []
    for (const scopes of [['read'], ['write']]) {
      const wanted = { project: 'default', name: `metrics-${scopes[0]}`, scopes }
      const { token } = await createApiKey(nodeFs, service.storeDir, wanted)
      answers.push(await service.get('/metrics', { authorization: `ApiKey ${token}` }))
    }
    answers.push(await service.get('/metrics', { authorization: '' }))
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 403, 401])
    expect(answers[0]?.headers.get('content-type')).to.equal('text/plain; version=0.0.4; charset=utf-8')
  })

  it('asks for none with METRICS=open', async () => {
    const open = await startService({ env: { METRICS: 'open' } })
    try {
      expect((await open.get('/metrics', { authorization: '' })).status).to.equal(200)
    } finally {
      await open.stop()
    }
  })

  it('counts requests by the pattern of their route, however many paths and methods people make up', async () => {
    const count = (labels: string): Promise<number> =>
      value(`branchpoint_http_request_duration_seconds_count{${labels}}`)
    await service.call('PATCH', '/workflows/1')
    const before = (await service.get('/metrics')).text
    for (let id = 1; id <= 5; id++) {
      await service.get(`/workflows/00000000-0000-4000-8000-00000000000${id}`)
      await service.get(`/made-up/${id}`)
      await service.get(`/git/workflows/made-up-${id}.git/info/refs?service=git-upload-pack`)
      await service.call('PURGE', `/workflows/${id}`)
    }
    expect(await count('method="GET",route="/workflows/:id",status="4xx"')).to.equal(5)
    expect(await count('method="GET",route="/git/:family/:slug.git/info/refs",status="4xx"')).to.equal(5)
    expect(await count('method="GET",route="none",status="4xx"')).to.equal(5)
    expect(await count('method="other",route="none",status="4xx"')).to.equal(6)
    const { text } = await service.get('/metrics')
    expect(before).not.to.contain('/workflows/:id"')
    expect(text).not.to.match(/made-up|PURGE|0000-4000/)
  })

  it('times requests in buckets that hold the smaller ones, too', async () => {
    for (let request = 0; request < 3; request++) await service.get('/health')
    const { text } = await service.get('/metrics')
    const labels = 'method="GET",route="/health",status="2xx"'
    const name = 'branchpoint_http_request_duration_seconds'
    expect(text).to.match(new RegExp(`^# TYPE ${name} histogram$`, 'm'))
    const buckets = [...text.matchAll(new RegExp(`^${name}_bucket{le="(.+)",${labels}} (\\d+)$`, 'gm'))]
    expect(buckets.map(([, le]) => le).join(' ')).to.equal(
      '0.0005 0.001 0.0025 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 10 60 +Inf',
    )
    const held = buckets.map(([, , count]) => Number(count))
    expect(held).to.deep.equal(held.toSorted((a, b) => a - b))
    expect(held.at(-1)).to.equal(3)
    expect(text).to.contain(`${name}_count{${labels}} 3\n`)
    const seconds = await value(`${name}_sum{${labels}}`)
    expect(seconds).to.be.greaterThan(0)
    const least = held.findIndex((count) => count === 3)
    expect(seconds).to.be.at.most(3 * Number(buckets[least]?.[1]))
  })

  it('counts commits, and whether caches had what was asked of them', async () => {
    const { body } = await service.post('/simple/workflows/', { workflow: { slug: 'counted', data: {} } })
    const commits = await value('branchpoint_commits_total')
    const writes = await value('branchpoint_writes_total')
    const commit = { workflow_variant_id: body.workflow.variant_id, data: { parameters: { a: 1 } } }
    await service.post('/workflows/revisions/commit', { workflow_revision_commit: commit })
    await service.post('/workflows/revisions/commit', { workflow_revision_commit: { ...commit, data: 1 } })
    expect(await value('branchpoint_commits_total')).to.equal(commits + 1)
    expect(await value('branchpoint_writes_total')).to.equal(writes + 1)
    expect(await value('branchpoint_writes_waiting')).to.equal(0)
    const hits = 'branchpoint_cache_lookups_total{cache="answers",result="hit"}'
    const asks = { workflow_ref: { slug: 'counted' } }
    await service.post('/workflows/revisions/retrieve', asks)
    const known = await value(hits)
    await service.post('/workflows/revisions/retrieve', asks)
    expect(await value(hits)).to.equal(known + 1)
  })

  it('tells how busy the process is', async () => {
    expect(await value('branchpoint_http_requests_in_flight')).to.equal(1)
    expect(await value('branchpoint_artifacts')).to.be.greaterThan(0)
    const { text } = await service.get('/metrics')
    for (const name of [
      'branchpoint_git_requests_waiting',
      'branchpoint_webhook_deliveries_waiting',
      'branchpoint_trace_spans_dropped_total',
      'branchpoint_scripts_running',
      'branchpoint_long_jobs_running',
      'branchpoint_long_jobs_waiting',
      'branchpoint_evaluations_running',
      'branchpoint_event_followers',
      'branchpoint_upkeep_rounds_total',
      'nodejs_eventloop_lag_p99_seconds',
      'process_resident_memory_bytes',
    ])
      expect(text).to.match(new RegExp(`^${name} [0-9.e+-]+$`, 'm'))
  })
})

describe('a flood of requests', () => {
  it('is answered with 503 past MAX_REQUESTS, and /health all the same', async () => {
    const service = await startService({ env: { MAX_REQUESTS: '1' } })
    try {
      // Its body never comes, so that it stays the one request that is worked on.
      const held = request(`${service.url}/workflows/query`, {
        method: 'POST',
        headers: { authorization: `ApiKey ${ADMIN_KEY}`, 'content-length': 2, expect: '100-continue' },
      })
      held.on('error', () => undefined).flushHeaders()
      await once(held, 'continue')
      const refused = await service.post('/workflows/query')
      expect(refused.status).to.equal(503)
      expect(refused.headers.get('retry-after')).to.equal('1')
      expect(refused.body.code).to.equal('overloaded')
      expect((await service.get('/health')).status).to.equal(200)
      expect((await service.get('/metrics')).status).to.equal(200)
      held.destroy()
      let again
      do again = await service.post('/workflows/query')
      while (again.status === 503)
      expect(again.status).to.equal(200)
    } finally {
      await service.stop()
    }
  })
})
