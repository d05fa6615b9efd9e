import { createApiKey, revokeApiKey } from '../../../src/access/keys/api-keys.ts'
import type { Scope } from '../../../src/access/keys/scope.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { describeRefusals } from './describe-refusals.ts'

describeRefusals('access', ({ family: { singular, folder, payload }, store }) => {
  const { refuses } = store
  const create = { path: `/${folder}`, body: { [singular]: { slug: 'new' } } }

  /** The header of a new key with these scopes. */
  const keyWith = async (scopes: readonly Scope[]): Promise<Record<string, string>> => {
    const name = `key-${scopes.join('-')}-${++keys}`
    const key = { project: 'default', name, scopes }
    const { token } = await createApiKey(nodeFs, store.service.storeDir, key)
    return { authorization: `ApiKey ${token}` }
  }
  let keys = 0

  it('no key is a 401 that says which header to send', () =>
    refuses(
      { ...create, headers: { authorization: '' } },
      { status: 401, code: 'missing_key', says: ['Authorization: ApiKey'] },
    ))

  it('another scheme is a 401 that names it', () =>
    refuses(
      { ...create, headers: { authorization: 'Digest test-admin-key' } },
      { status: 401, code: 'missing_key', says: ['Digest', 'ApiKey', 'X-API-Key'] },
    ))

  it('an unknown key is a 401', () =>
    refuses(
      { ...create, headers: { authorization: 'ApiKey nobody' } },
      { status: 401, code: 'unknown_key', says: ['API key'] },
    ))

  it('a revoked key is a 401', async () => {
    const { storeDir } = store.service
    const { key, token } = await createApiKey(nodeFs, storeDir, {
      project: 'default',
      name: 'brief',
      scopes: ['admin'],
    })
    await revokeApiKey(nodeFs, storeDir, 'default', { id: key.id })
    await refuses(
      { ...create, headers: { authorization: `ApiKey ${token}` } },
      { status: 401, code: 'unknown_key', says: ['revoked'] },
    )
  })

  it('a key is asked for before the body is looked at', () =>
    refuses(
      { path: `/${folder}`, body: '{', headers: { authorization: '' } },
      { status: 401, code: 'missing_key', says: ['ApiKey'] },
    ))

  const writes: readonly (readonly [string, (made: typeof store.made) => string, string?])[] = [
    ['create', () => `/${folder}`],
    ['edit', ({ bot }) => `/${folder}/${bot}`, 'PUT'],
    ['archive', ({ bot }) => `/${folder}/${bot}/archive`],
    ['create a variant', () => `/${folder}/variants`],
    ['fork', () => '/variants/fork'],
    ['commit', () => `/${folder}/revisions/commit`],
    ['archive a revision', ({ first }) => `/${folder}/revisions/${first}/archive`],
    ['create simply', () => `/simple/${folder}`],
    ...(payload === 'rows'
      ? ([
          ['upload', () => `/simple/${folder}/upload`],
          ['upload to a revision', ({ first }: typeof store.made) => `/${folder}/revisions/${first}/upload`],
        ] as const)
      : []),
  ]
  for (const [name, pathOf, method = 'POST'] of writes) {
    it(`a key that only reads may not ${name}: 403 naming the scope`, async () => {
      const headers = await keyWith(['read'])
      await refuses(
        { method, path: pathOf(store.made), body: { [singular]: { slug: 'new' } }, headers },
        { status: 403, code: 'missing_scope', says: ['write'] },
      )
    })
  }

  it('a key that only writes may not read', async () => {
    const headers = await keyWith(['write'])
    const says = ['read']
    const wanted = { status: 403, code: 'missing_scope', says }
    await refuses({ path: `/${folder}/query`, body: {}, headers }, wanted)
    await refuses({ method: 'GET', path: `/${folder}/${store.made.bot}`, headers }, wanted)
    if (payload !== 'rows') return
    await refuses({ path: `/${folder}/revisions/${store.made.first}/download`, headers }, wanted)
    await refuses({ path: '/testcases/query', body: { testset_id: store.made.bot }, headers }, wanted)
  })

  it('a key of another project finds nothing of this one', async () => {
    const { bot, botVariant, first, stranger } = store.made
    const headers = { authorization: `ApiKey ${stranger}` }
    const path = `/${folder}/revisions/retrieve`
    await refuses(
      { method: 'GET', path: `/${folder}/${bot}`, headers },
      { status: 404, code: 'artifact_not_found', says: [bot] },
    )
    await refuses(
      { path, body: { [`${singular}_revision_ref`]: { id: first } }, headers },
      { status: 404, code: 'revision_not_found', says: [first] },
    )
    await refuses(
      { path, body: { [`${singular}_variant_ref`]: { slug: 'bot' } }, headers },
      { status: 404, code: 'variant_not_found', says: ['bot'] },
    )
    await refuses(
      {
        path: `/${folder}/revisions/commit`,
        body: { [`${singular}_revision`]: { [`${singular}_variant_id`]: botVariant, data: {} } },
        headers,
      },
      { status: 404, code: 'variant_not_found', says: [botVariant] },
    )
  })

  it('an unknown route is a 404, another method a 405 that names those it takes', async () => {
    await refuses(
      { path: '/nothing/here' },
      { status: 404, code: 'route_not_found', says: ['/nothing/here'] },
    )
    await refuses(
      {
        method: 'PUT',
        path: `/${folder}/revisions/${store.made.first}`,
        body: { [`${singular}_revision`]: {} },
      },
      { status: 405, code: 'method_not_allowed', says: ['PUT', 'GET'] },
    )
    await refuses(
      { method: 'DELETE', path: `/${folder}/${store.made.bot}` },
      { status: 405, code: 'method_not_allowed', says: ['DELETE'] },
    )
  })
})
