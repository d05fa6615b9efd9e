import { execFileSync } from 'node:child_process'
import { expect } from 'chai'
import { git } from '../../support/git/git-program.ts'
import { type RunningService, startService } from '../../support/servers/service.ts'
import { cloneOf, workflow } from '../../support/git/git-client.ts'
import { TestFollower, type Told } from './follower.ts'

describe('http: GET /events', () => {
  let service: RunningService
  let follower: TestFollower
  before(async () => (service = await startService()))
  after(() => service.stop())
  beforeEach(async () => (follower = await TestFollower.open(service.url)))
  afterEach(() => follower.close())

  const commit = (variant: string, message: string, number: number) =>
    service.post('/workflows/revisions/commit', {
      workflow_revision_commit: { workflow_variant_id: variant, message, data: { parameters: { number } } },
    })
  const isRevision =
    (slug: string) =>
    ({ data }: Told): boolean =>
      data.action === 'committed' && data.references.workflow_revision?.slug === slug
  /** Kind and action of what was told of an artifact, in its order. */
  const toldOf = (slug: string, family = 'workflow'): string[] =>
    follower.events
      .filter(({ data }) => data.references?.[family]?.slug === slug)
      .map(({ event, data }) => `${event} ${data.action}`)

  it('is a stream of server-sent events that nothing on the way keeps back', () => {
    const { headers, statusCode } = follower.response
    expect(statusCode).to.equal(200)
    expect(headers).to.include({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    expect(headers).to.not.have.property('content-encoding')
  })

  it('tells no more than 4,000 characters of what a commit says', async () => {
    const variant = await workflow(service, 'wordy')
    await commit(variant, '😀'.repeat(2100), 2)
    const { data } = await follower.find(isRevision('wordy-2'))
    expect([data.subject, data.truncated]).to.deep.equal(['😀'.repeat(2000), true])
  })

  // interface 13.8
  it('tells what REST creates and commits, each with its references, date, author and subject', async () => {
    const variant = await workflow(service, 'told')
    await commit(variant, 'Second\n\nand more', 2)
    const { id, event, data } = await follower.find(isRevision('told-2'))
    expect(id).to.match(/^[0-9a-f]{12}:\d+$/)
    expect(event).to.equal('revision')
    const { references, date, ...rest } = data
    expect(rest).to.deep.equal({
      kind: 'revision',
      action: 'committed',
      family: 'workflows',
      subject: 'Second',
      author: 'admin <admin@branchpoint.local>',
    })
    expect(references.workflow_variant).to.deep.equal({ id: variant, slug: 'told' })
    expect(references.workflow_revision).to.include({ slug: 'told-2', version: 2 })
    expect(Date.parse(date)).to.be.closeTo(Date.now(), 10_000)
    expect(toldOf('told')).to.deep.equal([
      'artifact created',
      'artifact variant_created',
      'revision committed',
      'revision committed',
    ])
    const numbers = follower.events.map((it) => Number(it.id.split(':')[1]))
    expect(numbers).to.deep.equal([...numbers].sort((a, b) => a - b))
  })

  it('tells every one of many commits, in their order', async () => {
    const variant = await workflow(service, 'many')
    for (let number = 2; number <= 30; number++) await commit(variant, `No. ${number}`, number)
    await follower.find(isRevision('many-30'))
    const versions = follower.events
      .filter(({ data }) => data.references.workflow?.slug === 'many' && data.action === 'committed')
      .map(({ data }) => data.references.workflow_revision.version)
    expect(versions).to.deep.equal(Array.from({ length: 30 }, (_, index) => index + 1))
  })

  it('tells of forks, edits and archiving, of deployments, and of what was removed and came back', async () => {
    const variant = await workflow(service, 'lively')
    const { body } = await service.post('/workflows/query', { workflow: { slug: 'lively' } })
    const { id } = body.workflows[0]
    await service.post('/workflows/variants/fork', {
      workflow_variant: { slug: 'lively-fork' },
      workflow_variant_ref: { slug: 'lively' },
    })
    await service.put(`/workflows/${id}`, { workflow: { id, name: 'Lively' } })
    await service.post(`/workflows/${id}/archive`)
    await service.post(`/workflows/${id}/unarchive`)
    await follower.find(({ data }) => data.action === 'unarchived')
    for (const what of ['variant_forked', 'edited', 'archived', 'unarchived'])
      expect(toldOf('lively')).to.include(`artifact ${what}`)
    await service.post('/workflows/revisions/deploy', {
      workflow_variant_ref: { slug: 'lively' },
      environment_ref: { slug: 'production' },
    })
    const deployed = await follower.find(({ event }) => event === 'deployment')
    expect(deployed.data).to.include({ kind: 'deployment', action: 'deployed', family: 'environments' })
    expect(deployed.data.diff.created['lively.revision'].new.workflow_revision.version).to.equal(1)
    expect(toldOf('production', 'environment')).to.include('revision committed')

    await workflow(service, 'brief')
    const brief = (await service.post('/workflows/query', { workflow: { slug: 'brief' } })).body.workflows[0]
      .id
    await service.call('DELETE', `/simple/workflows/${brief}`)
    const removed = await follower.find(({ data }) => data.action === 'removed')
    expect(removed.data).to.deep.include({
      references: { workflow: { id: brief, slug: 'brief' } },
      author: null,
    })
    follower.events.length = 0
    await service.post(`/simple/workflows/${brief}/undelete`)
    await follower.find(({ data }) => data.references.workflow?.slug === 'brief')
    void variant
  })

  it('tells what a push brings, and what plain git does in the store', async () => {
    await workflow(service, 'pushed')
    const clone = await cloneOf(service, 'pushed')
    clone.write('data.json', '{"parameters": {"number": 2}}\n')
    await clone.commit('Pushed')
    await clone.git('push', '-q')
    const pushed = await follower.find(isRevision('pushed-2'))
    expect(pushed.data).to.include({ subject: 'Pushed', author: 'Ann <ann@example.com>' })

    const folder = service.repository('pushed')
    const tree = git(folder, ['rev-parse', 'pushed^{tree}'])
    const made = git(folder, ['commit-tree', '-p', 'pushed', '-m', 'By hand', tree])
    const began = Date.now()
    git(folder, ['update-ref', 'refs/heads/pushed', made])
    const byHand = await follower.find(isRevision('pushed-3'))
    expect(byHand.data.subject).to.equal('By hand')
    expect(Date.now() - began).to.be.below(5000) // two seconds, where the machine has nothing else to do
  })

  it('tells what another server of the store does', async () => {
    const other = await startService({ storeDir: service.storeDir })
    try {
      await workflow(other, 'elsewhere')
      expect((await follower.find(isRevision('elsewhere-1'))).data.author).to.match(/^admin /)
    } finally {
      await other.stop({ keepStore: true })
    }
  })

  it('tells of evaluations that begin and end', async () => {
    const made = [
      await service.post('/simple/testsets', {
        testset: { slug: 'rows', data: { testcases: [{ data: { n: 1 } }] } },
      }),
      await service.post('/simple/applications', {
        application: {
          slug: 'app',
          data: { uri: 'svc:custom:mock:v0', parameters: { key: 'static', kwargs: { output: 'x' } } },
        },
      }),
      await service.post('/simple/evaluators', {
        evaluator: {
          slug: 'judge',
          template: 'auto_exact_match',
          data: { parameters: { correct_answer_key: 'n' } },
        },
      }),
    ]
    expect(made.map(({ status }) => status)).to.deep.equal([200, 200, 200])
    const run = await service.post('/evaluations/run', {
      testset_ref: { slug: 'rows' },
      application_ref: { slug: 'app' },
      evaluator_refs: [{ slug: 'judge' }],
    })
    expect(run.status, run.text).to.equal(200)
    const { event, data } = await follower.find(({ data: { action } }) => action === 'finished')
    expect([event, data.kind]).to.deep.equal(['evaluation', 'evaluation'])
    expect(data.references).to.deep.include({ evaluation: { id: run.body.evaluation.id } })
    expect(data.references.application_revision).to.include({ slug: 'app-1', version: 1 })
  })

  // interface 13.8
  it('tells what was missed to who comes back with the last id, and has everybody else ask again', async () => {
    const variant = await workflow(service, 'missed')
    await follower.find(isRevision('missed-1'))
    const { lastId } = follower
    follower.close()
    await commit(variant, 'While away', 2)
    const back = await TestFollower.open(service.url, { 'last-event-id': lastId })
    await back.find(isRevision('missed-2'))
    expect(back.events.map(({ event }) => event)).to.deep.equal(['revision'])
    // from there nothing is told twice
    const again = await TestFollower.open(service.url, { 'last-event-id': back.lastId })
    await commit(variant, 'Third', 3)
    await again.find(isRevision('missed-3'))
    expect(again.events).to.have.length(1)
    const [name = ''] = lastId.split(':')
    for (const id of ['0123456789ab:1', `${name}:999999`, 'x', `${name}:-1`, '1', ';drop']) {
      const lost = await TestFollower.open(service.url, { 'last-event-id': id })
      expect(
        lost.events.map(({ event, data }) => [event, data]),
        id,
      ).to.deep.equal([['reset', {}]])
      lost.close()
    }
    for (const it of [back, again]) it.close()
  })

  it('has them ask again after a push of very many revisions, and goes on', async () => {
    const variant = await workflow(service, 'flood')
    const folder = service.repository('flood')
    const head = git(folder, ['rev-parse', 'flood'])
    const one = (number: number): string =>
      `commit refs/heads/flood\ncommitter A <a@example.com> ${1_700_000_000 + number} +0000\ndata 2\nn\n${number === 0 ? `from ${head}\n` : ''}\n`
    const stream = Array.from({ length: 300 }, (_, number) => one(number)).join('')
    execFileSync('git', ['fast-import', '--quiet'], { cwd: folder, input: stream })
    await follower.find(({ event }) => event === 'reset')
    await commit(variant, 'After', 9)
    await follower.find(isRevision('flood-302'))
    expect(toldOf('flood').filter((it) => it === 'revision committed')).to.have.length(2)
  })
})
