import { type Scenario, type Step, deliveries, events, get, post, put } from '../harness/scenario.ts'
import { NOBODY } from './surfaces.ts'

/** What a write tells: the events that `GET /events` sends, and what webhooks send. */
export const happeningScenarios: readonly Scenario[] = [
  { name: 'events', steps: told },
  { name: 'webhooks', steps: () => [...webhooks(), ...sent()] },
]

const bot = { slug: 'bot', data: { parameters: { a: 1 } } }

function told(): Step[] {
  return [
    post('create', '/simple/workflows', { workflow: bot }, { as: 'bot' }),
    events('what a creation told'),
    post(
      'commit',
      '/workflows/revisions/commit',
      {
        workflow_revision: { message: 'Two', delta: { set: { parameters: { a: 2 } } } },
        workflow_variant_ref: { slug: 'bot' },
      },
      { as: 'second' },
    ),
    events('what a commit told'),
    post(
      'fork',
      '/workflows/variants/fork',
      { workflow_variant: { slug: 'side' }, workflow_variant_ref: { slug: 'bot' } },
      { as: 'side' },
    ),
    events('what a fork told'),
    put('edit', '/workflows/<bot>', { workflow: { name: 'Bot' } }),
    events('what an edit told'),
    post('deploy', '/workflows/revisions/deploy', {
      workflow_revision_ref: { id: '<second>' },
      environment_ref: { slug: 'staging' },
    }),
    events('what a deployment told'),
    post('archive a variant', '/workflows/variants/<side>/archive'),
    events('what the archiving of a variant told'),
    post('archive', '/workflows/<bot>/archive'),
    post('bring back', '/workflows/<bot>/unarchive'),
    events('what archiving and bringing back told'),
    post('a write that is refused', '/simple/workflows', { workflow: bot }),
    events('what a refusal told'),
    get('events without a key', '/events', { key: 'none' }),
    get('events for a key that may only write', '/events', { key: 'write' }),
    get('events by a parameter that nobody reads', '/events?nobody_reads=1', { key: 'write' }),
  ]
}

function webhooks(): Step[] {
  const create = (title: string, webhook: unknown, more: object = {}): Step =>
    post(title, '/webhooks', { webhook }, more)
  const url = '<receiver>/200'
  return [
    create('a webhook', { url, name: 'All' }, { as: 'hook' }),
    create(
      'a webhook of some events',
      { url, name: 'Some', events: ['revision.committed'], filters: { families: ['queries'] } },
      { as: 'some' },
    ),
    create('a webhook of an event that is not known', { url, events: ['moon.rose'] }),
    create('a webhook without an address', { name: 'x' }),
    create('a webhook of an address that is none', { url: 'nowhere' }),
    create('a webhook of an address of another kind', { url: 'ftp://example.org' }),
    create('a webhook with a member that nobody reads', { url, nobody_reads: 1 }),
    create('a webhook of filters of no family', { url, filters: { families: ['things'] } }),
    create('a webhook with a key that may only write', { url }, { key: 'write' }),
    create('a webhook without a key', { url }, { key: 'none' }),
    create('a webhook that is a text', 'x'),
    get('read a webhook', '/webhooks/<hook>'),
    get('read a webhook that is not there', `/webhooks/${NOBODY}`),
    post('list webhooks', '/webhooks/query'),
    post('list webhooks by name', '/webhooks/query', { webhook: { name: 'Some' } }),
    post('list webhooks by a member that nobody reads', '/webhooks/query', { nobody_reads: 1 }),
    put('edit a webhook', '/webhooks/<some>', {
      webhook: { id: '<some>', url, name: 'Renamed', is_active: false },
    }),
    put('edit a webhook into no address', '/webhooks/<some>', { webhook: { id: '<some>', url: 'nowhere' } }),
    put('edit a webhook that is not there', `/webhooks/${NOBODY}`, { webhook: { id: NOBODY, name: 'x' } }),
    post('a new secret', '/webhooks/<some>/rotate', {}, { as: 'rotated' }),
    post('a new secret for what is not there', `/webhooks/${NOBODY}/rotate`),
    post('archive a webhook', '/webhooks/<some>/archive'),
    post('list webhooks with the archived', '/webhooks/query', { include_archived: true }),
    post('test an archived webhook', '/webhooks/<some>/test'),
    deliveries('what the test of an archived one sent', 1),
    post('bring a webhook back', '/webhooks/<some>/unarchive'),
    post('archive a webhook that is not there', `/webhooks/${NOBODY}/archive`),
  ]
}

function sent(): Step[] {
  const found = (title: string, body: object, more: object = {}): Step =>
    post(title, '/webhooks/<hook>/deliveries/query', body, more)
  return [
    post('test the webhook', '/webhooks/<hook>/test', {}, { as: 'tested' }),
    deliveries('what the test sent', 1),
    post('create', '/simple/workflows', { workflow: bot }, { as: 'bot' }),
    deliveries('what a creation sent', 3),
    post('deploy', '/workflows/revisions/deploy', {
      workflow_revision_ref: { slug: 'bot', version: 1 },
      environment_ref: { slug: 'staging' },
      message: 'Go',
    }),
    deliveries('what a deployment sent', 2),
    found('deliveries of the test', { delivery: { event_type: 'webhook.test' } }),
    found('deliveries that failed', { delivery: { status: 'failed' } }),
    found('deliveries of a state that is not known', { delivery: { status: 'lost' } }),
    found('deliveries by a member that nobody reads', { nobody_reads: 1 }),
    found('deliveries for a key that may only write', {}, { key: 'write' }),
    post('deliveries of what is not there', `/webhooks/${NOBODY}/deliveries/query`),
    get('one delivery', '/webhooks/deliveries/<tested>'),
    get('a delivery that is not there', `/webhooks/deliveries/${NOBODY}`),
    post('send it again', '/webhooks/deliveries/<tested>/redeliver'),
    deliveries('what was sent again', 1),
    post('send again what is not there', `/webhooks/deliveries/${NOBODY}/redeliver`),
  ]
}
