import { describeRefusals } from './describe-refusals.ts'
import { NOBODY } from './refused-fixture.ts'

describeRefusals('the state things are in', ({ family, second, third, store }) => {
  const { singular, folder } = family
  const { refuses } = store

  const commit = (variant_id: string, more: object = {}, headers: Record<string, string> = {}) => ({
    path: `/${folder}/revisions/commit`,
    body: { [`${singular}_revision`]: { variant_id, data: {}, ...more } },
    headers,
  })

  it('a commit to an archived variant, or to a variant of an archived artifact', async () => {
    const { oldVariant, goneVariant } = store.made
    await refuses(commit(oldVariant), { status: 409, code: 'archived', says: ['variant', '"old"'] })
    await refuses(commit(goneVariant), { status: 409, code: 'archived', says: ['"gone"'] })
    await refuses(commit(goneVariant, { data: undefined, delta: { set: {} } }), {
      status: 409,
      code: 'archived',
      says: ['"gone"'],
    })
    await refuses(
      {
        path: `/${folder}/revisions`,
        body: { [`${singular}_revision`]: { [`${singular}_variant_id`]: oldVariant } },
      },
      { status: 409, code: 'archived', says: ['"old"'] },
    )
  })

  it('a variant or a fork under an archived artifact', async () => {
    const { gone, goneVariant, goneRevision } = store.made
    const wanted = { status: 409, code: 'archived', says: ['artifact', '"gone"'] }
    await refuses(
      { path: `/${folder}/variants`, body: { [`${singular}_variant`]: { [`${singular}_id`]: gone } } },
      wanted,
    )
    await refuses(
      {
        path: '/variants/fork',
        body: { [`${singular}_variant`]: { slug: 'new' }, [`${singular}_variant_ref`]: { id: goneVariant } },
      },
      wanted,
    )
    await refuses(
      {
        path: `/${third.path}/variants/fork`,
        body: { [`${third.singular}_variant`]: {}, [`${third.singular}_revision_ref`]: { id: goneRevision } },
      },
      wanted,
    )
  })

  it('an edit of what is archived', async () => {
    const { gone, goneVariant, oldVariant } = store.made
    const edit = (path: string, key: string) => ({ method: 'PUT', path, body: { [key]: { name: 'New' } } })
    const archived = (slug: string) => ({ status: 409, code: 'archived', says: [`"${slug}"`] })
    await refuses(edit(`/${folder}/${gone}`, singular), archived('gone'))
    await refuses(edit(`/simple/${folder}/${gone}`, singular), archived('gone'))
    await refuses(edit(`/${folder}/variants/${goneVariant}`, `${singular}_variant`), archived('gone'))
    await refuses(edit(`/${folder}/variants/${oldVariant}`, `${singular}_variant`), archived('old'))
    await refuses(
      { method: 'PUT', path: `/simple/${folder}/${gone}`, body: { [singular]: { name: 'N', data: {} } } },
      archived('gone'),
    )
  })

  it('a stale base', async () => {
    const { botVariant, first, second, spare } = store.made
    const conflict = (...says: string[]) => ({ status: 409, code: 'revision_conflict', says })
    await refuses(commit(botVariant, { base_revision_id: first }), conflict(first, second))
    await refuses(commit(botVariant, { base_revision_id: NOBODY }), conflict(NOBODY, second))
    await refuses(commit(spare, { base_revision_id: first }), conflict(first, 'no revision'))
    await refuses(
      commit(botVariant, { base_revision_id: first, data: undefined, delta: { set: {} } }),
      conflict(first, second),
    )
    await refuses(commit(botVariant, { base_revision_id: 'first' }), {
      status: 422,
      code: 'invalid_request',
      says: ['base_revision_id'],
      at: [['body', `${singular}_revision`, 'base_revision_id']],
    })
  })

  it('an If-Match that fails', async () => {
    const { botVariant, first, second, spare } = store.made
    const failed = (...says: string[]) => ({
      status: 412,
      code: 'precondition_failed',
      says: ['If-Match', ...says],
    })
    await refuses(commit(botVariant, {}, { 'if-match': `"${first}.abc"` }), failed(first, second))
    await refuses(commit(botVariant, {}, { 'if-match': `"${NOBODY}"` }), failed(NOBODY))
    await refuses(commit(botVariant, {}, { 'if-match': 'yes' }), failed('yes'))
    await refuses(commit(spare, {}, { 'if-match': '*' }), failed('no revision'))
  })

  it('a data-less first revision where there is one', () =>
    refuses(
      {
        path: `/${folder}/revisions/`,
        body: { [`${singular}_revision`]: { [`${singular}_variant_id`]: store.made.botVariant } },
      },
      { status: 409, code: 'revision_exists', says: ['"bot"'] },
    ))

  it('an id that is taken', async () => {
    const { bot } = store.made
    const taken = { status: 409, code: 'id_taken', says: [bot] }
    await refuses({ path: `/${folder}?${singular}_id=${bot}`, body: { [singular]: { slug: 'new' } } }, taken)
    await refuses(
      {
        path: `/simple/${second.path}?${second.singular}_id=${bot}`,
        body: { [second.singular]: { slug: 'new', data: {} } },
      },
      taken,
    )
  })

  it('a body that names another thing than the path', async () => {
    const { bot, gone, botVariant, spare } = store.made
    const refused = (...says: string[]) => ({ status: 400, code: 'contradictory_request', says })
    await refuses(
      { method: 'PUT', path: `/${folder}/${bot}`, body: { [singular]: { id: gone, name: 'X' } } },
      refused(bot, gone),
    )
    await refuses(
      { method: 'PUT', path: `/simple/${folder}/${bot}`, body: { [singular]: { id: gone, data: {} } } },
      refused(bot, gone),
    )
    await refuses(
      {
        method: 'PUT',
        path: `/${folder}/variants/${botVariant}`,
        body: { [`${singular}_variant`]: { id: spare, name: 'X' } },
      },
      refused(botVariant, spare),
    )
  })
})
