import { arrangeRefused } from './refused-fixture.ts'
import { refusedRequests } from './refused-requests.ts'

describe('refusals: wrong types', () => {
  const store = refusedRequests(arrangeRefused)
  const { refuses } = store

  const invalid = (...at: (string | number)[]) => ({
    status: 422,
    code: 'invalid_request',
    says: [at.join('.')],
    at: [at],
  })

  it('an envelope without its member, or with something else in it', async () => {
    await refuses({ path: '/workflows', body: {} }, invalid('body', 'workflow'))
    await refuses({ path: '/workflows', body: { workflow: 'bot' } }, invalid('body', 'workflow'))
    await refuses({ path: '/workflows', body: { workflow: [] } }, invalid('body', 'workflow'))
    await refuses({ path: '/workflows', body: { workflow: null } }, invalid('body', 'workflow'))
    await refuses({ path: '/applications', body: { testset: {} } }, invalid('body', 'application'))
    await refuses({ path: '/workflows/variants', body: {} }, invalid('body', 'workflow_variant'))
    await refuses(
      { path: '/workflows/revisions/commit', body: {} },
      invalid('body', 'workflow_revision_commit'),
    )
    await refuses({ path: '/workflows/revisions/log', body: {} }, invalid('body', 'workflow'))
    await refuses({ path: '/variants/fork', body: {} }, invalid('body', 'workflow_variant'))
    await refuses(
      { method: 'PUT', path: `/workflows/${store.made.bot}`, body: {} },
      invalid('body', 'workflow'),
    )
  })

  const headers: readonly (readonly [field: string, value: unknown, ...below: string[]])[] = [
    ['name', 7],
    ['description', {}],
    ['tags', 'x'],
    ['tags', ['x']],
    ['tags', { n: 7 }],
    ['tags', { a: { b: ['x'] } }],
    ['meta', 'x'],
    ['meta', []],
    ['flags', 'is_snippet'],
    ['flags', { is_snippet: 'yes' }, 'is_snippet'],
  ]
  for (const [field, value, ...below] of headers) {
    it(`${field}: ${JSON.stringify(value)}`, async () => {
      const { bot, botVariant } = store.made
      const at = (key: string) => invalid('body', key, field, ...below)
      await refuses({ path: '/workflows', body: { workflow: { [field]: value } } }, at('workflow'))
      await refuses({ path: '/simple/workflows', body: { workflow: { [field]: value } } }, at('workflow'))
      await refuses(
        { method: 'PUT', path: `/workflows/${bot}`, body: { workflow: { [field]: value } } },
        at('workflow'),
      )
      await refuses(
        {
          path: '/workflows/revisions/commit',
          body: { workflow_revision: { workflow_variant_id: botVariant, data: {}, [field]: value } },
        },
        at('workflow_revision'),
      )
    })
  }

  it('a message that is no string, or that git cannot hold', async () => {
    const commit = (message: unknown) => ({
      path: '/workflows/revisions/commit',
      body: { workflow_revision: { workflow_variant_id: store.made.botVariant, data: {}, message } },
    })
    await refuses(commit(7), invalid('body', 'workflow_revision', 'message'))
    await refuses(commit('a\0b'), invalid('body', 'workflow_revision', 'message'))
  })

  it('every problem is listed at once', () =>
    refuses(
      { path: '/workflows', body: { workflow: { slug: 'a b', name: 7, tags: [] } } },
      {
        status: 422,
        code: 'invalid_request',
        says: ['workflow.slug', 'workflow.name', 'workflow.tags'],
        at: [
          ['body', 'workflow', 'slug'],
          ['body', 'workflow', 'name'],
          ['body', 'workflow', 'tags'],
        ],
      },
    ))

  const queries = [
    '/workflows/query',
    '/applications/variants/query',
    '/evaluators/revisions/query',
    '/simple/workflows/query',
  ]
  for (const path of queries) {
    const singular = path.includes('applications')
      ? 'application'
      : path.includes('evaluators')
        ? 'evaluator'
        : 'workflow'
    const filter = path.includes('variants')
      ? `${singular}_variant`
      : path.includes('revisions')
        ? `${singular}_revision`
        : singular

    it(`${path}: a filter that cannot be meant`, async () => {
      const filters: readonly (readonly [object, ...(string | number)[]])[] = [
        [{ nmae: 'x' }, 'nmae'],
        [{ slug: 'a b' }, 'slug'],
        [{ slugs: 'bot' }, 'slugs'],
        [{ slugs: ['bot', ''] }, 'slugs', 1],
        [{ name: 7 }, 'name'],
        [{ tags: 'x' }, 'tags'],
        [{ meta: [] }, 'meta'],
        [{ flags: { is_nonsense: true } }, 'flags', 'is_nonsense'],
        [{ flags: { is_snippet: 'yes' } }, 'flags', 'is_snippet'],
        [{ flags: { 7: true } }, 'flags', '7'],
        [{ 7: 'x' }, '7'],
      ]
      for (const [value, ...at] of filters) {
        await refuses({ path, body: { [filter]: value } }, invalid('body', filter, ...at))
      }
      await refuses({ path, body: `{"${filter}":{"__proto__":1}}` }, invalid('body', filter, '__proto__'))
      await refuses({ path, body: { [filter]: 'bot' } }, invalid('body', filter))
      await refuses({ path, body: { include_archived: 'yes' } }, invalid('body', 'include_archived'))
      await refuses({ path, body: { [`${singular}_refs`]: {} } }, invalid('body', `${singular}_refs`))
      await refuses(
        { path, body: { [`${singular}_refs`]: [{ id: 'x' }] } },
        invalid('body', `${singular}_refs`, 0, 'id'),
      )
    })

    it(`${path}: a window that cannot be meant`, async () => {
      const windows: readonly (readonly [object, string])[] = [
        [{ limit: 0 }, 'limit'],
        [{ limit: -1 }, 'limit'],
        [{ limit: 1.5 }, 'limit'],
        [{ limit: '5' }, 'limit'],
        [{ order: 'up' }, 'order'],
        [{ next: 'x' }, 'next'],
        [{ next: '01a1fbb1-f5c2-76ee-83de-4bacd1c878f6' }, 'next'],
        [{ newest: 'yesterday' }, 'newest'],
        [{ oldest: '2026-13-01T00:00:00Z' }, 'oldest'],
      ]
      for (const [windowing, field] of windows) {
        await refuses({ path, body: { windowing } }, invalid('body', 'windowing', field))
      }
      await refuses({ path, body: { windowing: 5 } }, invalid('body', 'windowing'))
      const past = { ...invalid('body', 'windowing', 'limit'), says: ['limit', 'out of range'] }
      await refuses({ path, body: '{"windowing":{"limit":12345678901234567890}}' }, past)
    })

    it(`${path}: a query string that cannot be meant`, async () => {
      const ask = (query: string) => ({ path: `${path}?${query}` })
      await refuses(ask('include_archived=yes'), invalid('query', 'include_archived'))
      await refuses(ask('tags=team'), invalid('query', 'tags'))
      await refuses(ask('limit=many'), invalid('query', 'limit'))
      await refuses(ask('limit=0'), invalid('query', 'windowing', 'limit'))
      await refuses(ask('order=up'), invalid('query', 'windowing', 'order'))
      await refuses(ask('slug=a%20b'), invalid('query', filter, 'slug'))
      await refuses(ask('slugs=bot&slugs=a/b'), invalid('query', filter, 'slugs', 1))
      await refuses(ask('flags={"is_nonsense":true}'), invalid('query', filter, 'flags', 'is_nonsense'))
      await refuses(ask(`${singular}_id=x`), invalid('query', `${singular}_refs`, 0, 'id'))
    })
  }

  it('a log that cannot be meant', async () => {
    const { botVariant } = store.made
    const log = (more: object, fields: object = {}) => ({
      path: '/workflows/revisions/log',
      body: { workflow: { workflow_variant_id: botVariant, ...fields }, ...more },
    })
    for (const depth of [0, -1, 1.5, 'all']) {
      await refuses(log({ depth }), invalid('body', 'depth'))
      await refuses(log({}, { depth }), invalid('body', 'workflow', 'depth'))
    }
    await refuses(log({ include_data: 'yes' }), invalid('body', 'include_data'))
    await refuses(log({ windowing: { limit: 0 } }), invalid('body', 'windowing', 'limit'))
    await refuses(log({ windowing: { next: botVariant } }), invalid('body', 'windowing', 'next'))
    await refuses(log({}, { workflow_variant_id: 'bot' }), invalid('body', 'workflow', 'workflow_variant_id'))
  })
})
