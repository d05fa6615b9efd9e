import { expect } from 'chai'
import { arrangeRefused } from './refused-fixture.ts'
import { refusedRequests } from './refused-requests.ts'

/** One field under two of its spellings (rulings 1.5, 2): to take one value would drop the other in silence. */
describe('refusals: two spellings that contradict each other', () => {
  const store = refusedRequests(arrangeRefused)
  const contradicts = (path: string, body: object, ...names: readonly string[]) =>
    store.refuses({ path, body }, { status: 400, code: 'contradictory_request', says: names })
  const commit = '/workflows/revisions/commit'

  it('of the wrapper of a commit', () => {
    const fields = { workflow_variant_id: store.made.botVariant }
    const body = {
      workflow_revision: { ...fields, data: { parameters: { a: 1 } } },
      workflow_revision_commit: { ...fields, data: { parameters: { b: 1 } } },
    }
    return contradicts(commit, body, 'workflow_revision', 'workflow_revision_commit')
  })

  it('of the variant, and of the artifact, that a commit names', async () => {
    const { bot, gone, botVariant, spare } = store.made
    await contradicts(
      commit,
      { workflow_revision: { workflow_variant_id: botVariant, variant_id: spare, data: {} } },
      'workflow_variant_id',
      'variant_id',
    )
    await contradicts(
      commit,
      { workflow_revision: { variant_id: botVariant, workflow_id: bot, application_id: gone, data: {} } },
      'workflow_id',
      'application_id',
    )
  })

  it('of the artifact of a new variant', async () => {
    const { bot, bare } = store.made
    const fields = { slug: 'new', artifact_id: bot, workflow_id: bare }
    await contradicts('/workflows/variants', { workflow_variant: fields }, 'artifact_id', 'workflow_id')
  })

  it('of what a create or an edit says', async () => {
    const body = { workflow: { slug: 'new' }, evaluator: { slug: 'newer' } }
    await contradicts('/workflows', body, 'workflow', 'evaluator')
    await contradicts('/simple/workflows', body, 'workflow', 'evaluator')
    const edit = { workflow: { name: 'New' }, evaluator: { name: 'Newer' } }
    await store.refuses(
      { method: 'PUT', path: `/workflows/${store.made.bot}`, body: edit },
      { status: 400, code: 'contradictory_request', says: ['workflow', 'evaluator'] },
    )
  })

  it('of references, of a filter and of what a log is of', async () => {
    const { botVariant, spare } = store.made
    const references = { workflow_variant_ref: { slug: 'bot' }, application_variant_ref: { slug: 'spare' } }
    const names = Object.keys(references)
    await contradicts('/workflows/revisions/retrieve', references, ...names)
    await contradicts('/variants/fork', { workflow_variant: { slug: 'new' }, ...references }, ...names)
    await contradicts('/workflows/query', { workflow: { slug: 'bot' }, application: {} }, 'application')
    const log = { workflow: { variant_id: botVariant, workflow_variant_id: spare } }
    await contradicts('/workflows/revisions/log', log, 'variant_id', 'workflow_variant_id')
  })

  it('but not if they say the same', async () => {
    const reference = { slug: 'bot', version: 1 }
    const body = { workflow_revision_ref: reference, application_revision_ref: { ...reference } }
    const { status } = await store.service.post('/workflows/revisions/retrieve', body)
    expect(status).to.equal(200)
  })
})
