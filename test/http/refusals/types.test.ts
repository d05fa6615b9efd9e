import { describeRefusals } from './describe-refusals.ts'

describeRefusals('wrong types', ({ family, second, third, store }) => {
  const { singular, folder } = family
  const { refuses } = store

  const invalid = (...at: (string | number)[]) => ({
    status: 422,
    code: 'invalid_request',
    says: [at.join('.')],
    at: [at],
  })

  const unknown = (...at: (string | number)[]) => ({ ...invalid(...at), code: 'unknown_field' })

  it('an envelope without its member, or with something else in it', async () => {
    await refuses({ path: `/${folder}`, body: {} }, invalid('body', singular))
    await refuses({ path: `/${folder}`, body: { [singular]: 'bot' } }, invalid('body', singular))
    await refuses({ path: `/${folder}`, body: { [singular]: [] } }, invalid('body', singular))
    await refuses({ path: `/${folder}`, body: { [singular]: null } }, invalid('body', singular))
    await refuses(
      { path: `/${second.path}`, body: { nothing: {} } },
      {
        ...unknown('body', second.singular),
        at: [
          ['body', 'nothing'],
          ['body', second.singular],
        ],
      },
    )
    await refuses({ path: `/${folder}/variants`, body: {} }, invalid('body', `${singular}_variant`))
    await refuses(
      { path: `/${folder}/revisions/commit`, body: {} },
      invalid('body', `${singular}_revision_commit`),
    )
    await refuses({ path: `/${folder}/revisions/log`, body: {} }, invalid('body', singular))
    await refuses({ path: `/${folder}/variants/fork`, body: {} }, invalid('body', `${singular}_variant`))
    await refuses(
      { method: 'PUT', path: `/${folder}/${store.made.bot}`, body: {} },
      invalid('body', singular),
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
    ...family.roles.slice(-1).map((role) => ['flags', { [role]: 'yes' }, role] as const),
  ]
  for (const [field, value, ...below] of headers) {
    // interface 1.17, 3.8
    it(`${field}: ${JSON.stringify(value)}`, async () => {
      const { bot, botVariant } = store.made
      const at = (key: string) => invalid('body', key, field, ...below)
      await refuses({ path: `/${folder}`, body: { [singular]: { [field]: value } } }, at(singular))
      await refuses({ path: `/simple/${folder}`, body: { [singular]: { [field]: value } } }, at(singular))
      await refuses(
        { method: 'PUT', path: `/${folder}/${bot}`, body: { [singular]: { [field]: value } } },
        at(singular),
      )
      await refuses(
        {
          path: `/${folder}/revisions/commit`,
          body: {
            [`${singular}_revision`]: { [`${singular}_variant_id`]: botVariant, data: {}, [field]: value },
          },
        },
        at(`${singular}_revision`),
      )
    })
  }

  it('a message that is no string, or that git cannot hold', async () => {
    const commit = (message: unknown) => ({
      path: `/${folder}/revisions/commit`,
      body: {
        [`${singular}_revision`]: { [`${singular}_variant_id`]: store.made.botVariant, data: {}, message },
      },
    })
    await refuses(commit(7), invalid('body', `${singular}_revision`, 'message'))
    await refuses(commit('a\0b'), invalid('body', `${singular}_revision`, 'message'))
  })

  // interface 3.2, 3.8
  it('every problem is listed at once', () =>
    refuses(
      { path: `/${folder}`, body: { [singular]: { slug: 'a b', name: 7, tags: [] } } },
      {
        status: 422,
        code: 'invalid_request',
        says: [`${singular}.slug`, `${singular}.name`, `${singular}.tags`],
        at: [
          ['body', singular, 'slug'],
          ['body', singular, 'name'],
          ['body', singular, 'tags'],
        ],
      },
    ))

  const queries = [
    [`/${folder}/query`, singular, singular],
    [`/${second.path}/variants/query`, second.singular, `${second.singular}_variant`],
    [`/${third.path}/revisions/query`, third.singular, `${third.singular}_revision`],
    [`/simple/${folder}/query`, singular, singular],
  ] as const
  for (const [path, asking, filter] of queries) {
    // interface 2.15
    it(`${path}: a filter that cannot be meant`, async () => {
      const nobodyReads: readonly (readonly [object, ...(string | number)[]])[] = [
        [{ nmae: 'x' }, 'nmae'],
        [{ flags: { is_nonsense: true } }, 'flags', 'is_nonsense'],
        [{ flags: { 7: true } }, 'flags', '7'],
        [{ 7: 'x' }, '7'],
      ]
      for (const [value, ...at] of nobodyReads)
        await refuses({ path, body: { [filter]: value } }, unknown('body', filter, ...at))
      const filters: readonly (readonly [object, ...(string | number)[]])[] = [
        [{ slug: 'a b' }, 'slug'],
        [{ slugs: 'bot' }, 'slugs'],
        [{ slugs: ['bot', ''] }, 'slugs', 1],
        [{ name: 7 }, 'name'],
        [{ tags: 'x' }, 'tags'],
        [{ meta: [] }, 'meta'],
        ...family.roles.map((role) => [{ flags: { [role]: 'yes' } }, 'flags', role] as const),
      ]
      for (const [value, ...at] of filters) {
        await refuses({ path, body: { [filter]: value } }, invalid('body', filter, ...at))
      }
      await refuses({ path, body: `{"${filter}":{"__proto__":1}}` }, unknown('body', filter, '__proto__'))
      await refuses({ path, body: { [filter]: 'bot' } }, invalid('body', filter))
      await refuses({ path, body: { include_archived: 'yes' } }, invalid('body', 'include_archived'))
      await refuses({ path, body: { [`${asking}_refs`]: {} } }, invalid('body', `${asking}_refs`))
      await refuses(
        { path, body: { [`${asking}_refs`]: [{ id: 'x' }] } },
        invalid('body', `${asking}_refs`, 0, 'id'),
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
      await refuses(ask('flags={"is_nonsense":true}'), unknown('query', filter, 'flags', 'is_nonsense'))
      await refuses(ask(`${asking}_id=x`), invalid('query', `${asking}_refs`, 0, 'id'))
    })
  }

  it('a log that cannot be meant', async () => {
    const { botVariant } = store.made
    const log = (more: object, fields: object = {}) => ({
      path: `/${folder}/revisions/log`,
      body: { [singular]: { [`${singular}_variant_id`]: botVariant, ...fields }, ...more },
    })
    for (const depth of [0, -1, 1.5, 'all']) {
      await refuses(log({ depth }), invalid('body', 'depth'))
      await refuses(log({}, { depth }), invalid('body', singular, 'depth'))
    }
    await refuses(log({ include_data: 'yes' }), invalid('body', 'include_data'))
    await refuses(log({ windowing: { limit: 0 } }), invalid('body', 'windowing', 'limit'))
    await refuses(log({ windowing: { next: botVariant } }), invalid('body', 'windowing', 'next'))
    await refuses(
      log({}, { [`${singular}_variant_id`]: 'bot' }),
      invalid('body', singular, `${singular}_variant_id`),
    )
  })
})
