import { expect } from 'chai'
import { describeRefusals } from './describe-refusals.ts'

/** One field under two of its spellings (interface 2.6, 2.5): to take one value would drop the other in silence. */
describeRefusals('two spellings that contradict each other', ({ family, second, third, store }) => {
  const { singular, folder } = family
  const contradicts = (path: string, body: object, ...names: readonly string[]) =>
    store.refuses({ path, body }, { status: 400, code: 'contradictory_request', says: names })
  const commit = `/${folder}/revisions/commit`

  // interface 2.6
  it('of the wrapper of a commit', () => {
    const fields = { [`${singular}_variant_id`]: store.made.botVariant }
    const body = {
      [`${singular}_revision`]: { ...fields, data: family.data('a') },
      [`${singular}_revision_commit`]: { ...fields, data: family.data('b') },
    }
    return contradicts(commit, body, `${singular}_revision`, `${singular}_revision_commit`)
  })

  it('of the variant, and of the artifact, that a commit names', async () => {
    const { bot, gone, botVariant, spare } = store.made
    await contradicts(
      commit,
      { [`${singular}_revision`]: { [`${singular}_variant_id`]: botVariant, variant_id: spare, data: {} } },
      `${singular}_variant_id`,
      'variant_id',
    )
    await contradicts(
      commit,
      {
        [`${singular}_revision`]: {
          variant_id: botVariant,
          [`${singular}_id`]: bot,
          artifact_id: gone,
          data: {},
        },
      },
      `${singular}_id`,
      'artifact_id',
    )
  })

  it('of the artifact of a new variant', async () => {
    const { bot, bare } = store.made
    const fields = { slug: 'new', artifact_id: bot, [`${singular}_id`]: bare }
    await contradicts(
      `/${folder}/variants`,
      { [`${singular}_variant`]: fields },
      'artifact_id',
      `${singular}_id`,
    )
  })

  it('of what a log is of', async () => {
    const { botVariant, spare } = store.made
    const log = { [singular]: { variant_id: botVariant, [`${singular}_variant_id`]: spare } }
    await contradicts(`/${folder}/revisions/log`, log, 'variant_id', `${singular}_variant_id`)
  })

  if (second.singular === singular) return
  it('of what a create or an edit says', async () => {
    const body = { [singular]: { slug: 'new' }, [third.singular]: { slug: 'newer' } }
    await contradicts(`/${folder}`, body, singular, third.singular)
    await contradicts(`/simple/${folder}`, body, singular, third.singular)
    const edit = { [singular]: { name: 'New' }, [third.singular]: { name: 'Newer' } }
    await store.refuses(
      { method: 'PUT', path: `/${folder}/${store.made.bot}`, body: edit },
      { status: 400, code: 'contradictory_request', says: [singular, third.singular] },
    )
  })

  it('of references and of a filter', async () => {
    const references = {
      [`${singular}_variant_ref`]: { slug: 'bot' },
      [`${second.singular}_variant_ref`]: { slug: 'spare' },
    }
    const names = Object.keys(references)
    await contradicts(`/${folder}/revisions/retrieve`, references, ...names)
    await contradicts('/variants/fork', { [`${singular}_variant`]: { slug: 'new' }, ...references }, ...names)
    await contradicts(
      `/${folder}/query`,
      { [singular]: { slug: 'bot' }, [second.singular]: {} },
      second.singular,
    )
  })

  it('but not if they say the same', async () => {
    const reference = { slug: 'bot', version: 1 }
    const body = {
      [`${singular}_revision_ref`]: reference,
      [`${second.singular}_revision_ref`]: { ...reference },
    }
    const { status } = await store.service.post(`/${folder}/revisions/retrieve`, body)
    expect(status).to.equal(200)
  })
})
