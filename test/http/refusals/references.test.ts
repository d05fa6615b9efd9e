import { describeRefusals } from './describe-refusals.ts'
import { NOBODY } from './refused-fixture.ts'

describeRefusals('ids and references', ({ family: { singular, folder }, store }) => {
  const { refuses } = store

  const illFormed = ['-7', 'a..b', '.7', 'HEAD', `${NOBODY}.git`, '%00', '7%20']
  for (const id of illFormed) {
    it(`${JSON.stringify(id)} in a path is neither an id nor a slug`, async () => {
      for (const path of [`/${folder}/${id}`, `/${folder}/variants/${id}`, `/${folder}/revisions/${id}`]) {
        const wanted = { status: 422, code: 'invalid_request', says: ['path.id'], at: [['path', 'id']] }
        await refuses({ method: 'GET', path }, wanted)
        await refuses({ path: `${path}/archive` }, wanted)
      }
    })
  }

  // interface 3.5
  it('an unknown id in a path is a 404 by its level', async () => {
    const levels = [
      [`/${folder}`, 'artifact_not_found', singular],
      [`/${folder}/variants`, 'variant_not_found', `${singular}_variant`],
      [`/${folder}/revisions`, 'revision_not_found', `${singular}_revision`],
    ] as const
    for (const [path, code, key] of levels) {
      const wanted = { status: 404, code, says: [NOBODY] }
      await refuses({ method: 'GET', path: `${path}/${NOBODY}` }, wanted)
      await refuses({ path: `${path}/${NOBODY}/archive` }, wanted)
      await refuses({ path: `${path}/${NOBODY}/unarchive` }, wanted)
      if (code === 'revision_not_found') continue
      await refuses({ method: 'PUT', path: `${path}/${NOBODY}`, body: { [key]: { name: 'X' } } }, wanted)
    }
    await refuses(
      { method: 'PUT', path: `/simple/${folder}/${NOBODY}`, body: { [singular]: { data: {} } } },
      { status: 404, code: 'artifact_not_found', says: [NOBODY] },
    )
  })

  it('an id that differs in one bit from one that is there is unknown', async () => {
    const { bot, botVariant, first } = store.made
    const flip = (id: string) => (id.startsWith('0') ? '1' : '0') + id.slice(1)
    await refuses(
      { method: 'GET', path: `/${folder}/${flip(bot)}` },
      { status: 404, code: 'artifact_not_found', says: [flip(bot)] },
    )
    await refuses(
      { method: 'GET', path: `/${folder}/variants/${flip(botVariant)}` },
      { status: 404, code: 'variant_not_found', says: [flip(botVariant)] },
    )
    await refuses(
      { method: 'GET', path: `/${folder}/revisions/${flip(first)}` },
      { status: 404, code: 'revision_not_found', says: [flip(first)] },
    )
  })

  const retrieve = `/${folder}/revisions/retrieve`
  const reference = (of: string, value: unknown) => ({
    path: retrieve,
    body: { [`${singular}${of}_ref`]: value },
  })

  for (const of of ['', '_variant', '_revision']) {
    for (const [value, field] of [
      [{ id: 'x' }, 'id'],
      [{ id: 7 }, 'id'],
      [{ slug: 'a/b' }, 'slug'],
      [{ slug: 7 }, 'slug'],
    ] as const) {
      it(`${singular}${of}_ref ${JSON.stringify(value)} is ill-formed`, () =>
        refuses(reference(of, value), {
          status: 422,
          code: 'invalid_request',
          says: [`${singular}${of}_ref.${field}`],
          at: [['body', `${singular}${of}_ref`, field]],
        }))
    }
    for (const version of [0, -1, 1.5, 'abc', '0', '-1', '1.5', '', true, [1], 1e300]) {
      it(`${singular}${of}_ref: ${JSON.stringify(version)} is no version`, () =>
        refuses(reference(of, { slug: 'bot', version }), {
          status: 422,
          code: 'invalid_request',
          says: [`${singular}${of}_ref.version`],
          at: [['body', `${singular}${of}_ref`, 'version']],
        }))
    }
    it(`${singular}${of}_ref: a version past all counting is no version, and named digit for digit`, () =>
      refuses(
        { path: retrieve, body: `{"${singular}${of}_ref":{"slug":"bot","version":12345678901234567890}}` },
        {
          status: 422,
          code: 'invalid_request',
          says: [`${singular}${of}_ref.version: 12345678901234567890 is`],
        },
      ))
    it(`${singular}${of}_ref that is no object is refused`, () =>
      refuses(reference(of, 'bot'), {
        status: 422,
        code: 'invalid_request',
        says: [`${singular}${of}_ref`],
        at: [['body', `${singular}${of}_ref`]],
      }))
    // interface 5.6
    it(`${singular}${of}_ref {} identifies nothing`, () =>
      refuses(reference(of, {}), {
        status: 400,
        code: 'incomplete_reference',
        says: [`${singular}${of}_ref`, 'needs'],
      }))
    // interface 5.6
    it(`${singular}${of}_ref with a version alone lacks what to count on`, () =>
      refuses(reference(of, { version: 1 }), {
        status: 400,
        code: 'incomplete_reference',
        says: [`${singular}${of}_ref`, 'slug'],
      }))
  }

  if (folder === 'workflows')
    it('no reference at all is told by the names of the surface that was asked', () =>
      refuses(
        { path: '/applications/revisions/retrieve', body: {} },
        { status: 400, code: 'incomplete_reference', says: ['application_revision_ref', 'application_ref'] },
      ))

  it('no reference at all is a 400 that lists what may be sent', () =>
    refuses(
      { path: retrieve, body: {} },
      { status: 400, code: 'incomplete_reference', says: [`${singular}_variant_ref`, 'environment_ref'] },
    ))

  // interface 3.5
  it('what is not there is a 404 by the level asked for', async () => {
    const missing = { slug: 'nobody' }
    await refuses(reference('', missing), { status: 404, code: 'artifact_not_found', says: ['"nobody"'] })
    await refuses(reference('_variant', missing), {
      status: 404,
      code: 'variant_not_found',
      says: ['"nobody"'],
    })
    await refuses(reference('_revision', missing), {
      status: 404,
      code: 'revision_not_found',
      says: ['"nobody"'],
    })
    await refuses(reference('_revision', { slug: 'nobody', version: 1 }), {
      status: 404,
      code: 'revision_not_found',
      says: ['"nobody"', '1'],
    })
    await refuses(reference('_revision', { slug: 'bot', version: 99 }), {
      status: 404,
      code: 'revision_not_found',
      says: ['99'],
    })
    await refuses(reference('_variant', { slug: 'bot', version: 99 }), {
      status: 404,
      code: 'revision_not_found',
      says: ['99', '"bot"'],
    })
  })

  it('a named revision of another version is not there', () =>
    refuses(reference('_revision', { slug: 'launch', version: 1 }), {
      status: 404,
      code: 'revision_not_found',
      says: ['launch', '1'],
    }))

  it('a variant without revisions has no latest', () =>
    refuses(reference('_variant', { slug: 'spare' }), {
      status: 404,
      code: 'revision_not_found',
      says: ['spare'],
    }))

  if (singular !== 'environment') {
    const through = (references: object) => ({ path: retrieve, body: references })

    it('an environment is not there, or not identified', async () => {
      const missing = (says: string) => ({ status: 404, code: 'environment_not_found', says: [says] })
      const artifact = { [`${singular}_ref`]: { slug: 'bot' } }
      for (const beside of [{}, artifact, { key: 'bot.revision' }]) {
        await refuses(through({ environment_ref: { slug: 'nowhere' }, ...beside }), missing('"nowhere"'))
        await refuses(through({ environment_ref: { id: NOBODY }, ...beside }), missing(NOBODY))
        await refuses(through({ environment_ref: {}, ...beside }), {
          status: 400,
          code: 'incomplete_reference',
          says: ['environment_ref', 'needs'],
        })
      }
    })

    it('an environment to which nothing was deployed has no deployment', async () => {
      for (const beside of [{ [`${singular}_ref`]: { slug: 'bot' } }, { key: 'bot.revision' }]) {
        await refuses(through({ environment_ref: { slug: 'staging' }, ...beside }), {
          status: 404,
          code: 'deployment_not_found',
          says: ['"staging"'],
        })
      }
      await refuses(through({ environment_ref: { slug: 'staging' } }), {
        status: 400,
        code: 'incomplete_reference',
        says: ['"staging"', 'Nothing has been deployed'],
      })
    })

    it('a key without an environment is a 400 that says what is missing', () =>
      refuses(through({ key: 'bot.revision', [`${singular}_ref`]: { slug: 'bot' } }), {
        status: 400,
        code: 'incomplete_reference',
        says: ['"bot.revision"', 'environment_ref'],
      }))
  }

  it('the GET form refuses alike, at the same names', async () => {
    const ask = (query: string) => ({ method: 'GET', path: `${retrieve}?${query}` })
    await refuses(ask(`${singular}_variant_ref.slug=nobody`), {
      status: 404,
      code: 'variant_not_found',
      says: ['"nobody"'],
    })
    await refuses(ask(`${singular}_revision_ref.slug=bot&${singular}_revision_ref.version=1.5`), {
      status: 422,
      code: 'invalid_request',
      says: [`${singular}_revision_ref.version`, '"1.5"'],
      at: [['query', `${singular}_revision_ref`, 'version']],
    })
    await refuses(ask(''), { status: 400, code: 'incomplete_reference', says: [`${singular}_variant_ref`] })
  })

  it('a commit to a variant that is not there, or to none, is refused', async () => {
    const commit = (fields: object) => ({
      path: `/${folder}/revisions/commit`,
      body: { [`${singular}_revision`]: { data: {}, ...fields } },
    })
    await refuses(commit({ [`${singular}_variant_id`]: NOBODY }), {
      status: 404,
      code: 'variant_not_found',
      says: [NOBODY],
    })
    await refuses(commit({ [`${singular}_variant_id`]: store.made.bot }), {
      status: 404,
      code: 'variant_not_found',
      says: [store.made.bot],
    })
    await refuses(commit({}), {
      status: 422,
      code: 'invalid_request',
      says: [`${singular}_variant_id`],
      at: [['body', `${singular}_revision`, `${singular}_variant_id`]],
    })
    await refuses(commit({ [`${singular}_variant_id`]: 'bot' }), {
      status: 422,
      code: 'invalid_request',
      says: [`${singular}_variant_id`, '"bot"'],
      at: [['body', `${singular}_revision`, `${singular}_variant_id`]],
    })
    await refuses(
      commit({ [`${singular}_variant_id`]: store.made.botVariant, [`${singular}_id`]: store.made.gone }),
      {
        status: 400,
        code: 'contradictory_request',
        says: [store.made.gone, store.made.bot],
      },
    )
  })

  it('a fork of what is not there is refused', async () => {
    const fork = (references: object) => ({
      path: '/variants/fork',
      body: { [`${singular}_variant`]: { slug: 'new' }, ...references },
    })
    await refuses(fork({}), { status: 400, code: 'incomplete_reference', says: [`${singular}_variant_ref`] })
    await refuses(fork({ [`${singular}_variant_ref`]: { id: NOBODY } }), {
      status: 404,
      code: 'variant_not_found',
      says: [NOBODY],
    })
    await refuses(
      fork({ [`${singular}_variant_ref`]: { slug: 'bot' }, [`${singular}_revision_ref`]: { version: 99 } }),
      {
        status: 404,
        code: 'revision_not_found',
        says: ['99'],
      },
    )
    await refuses(fork({ [`${singular}_variant_ref`]: { slug: 'spare' } }), {
      status: 404,
      code: 'revision_not_found',
      says: ['spare'],
    })
  })

  it('a log or a diff of what is not there is refused', async () => {
    const log = (fields: object) => ({ path: `/${folder}/revisions/log`, body: { [singular]: fields } })
    await refuses(log({ [`${singular}_variant_id`]: NOBODY }), {
      status: 404,
      code: 'variant_not_found',
      says: [NOBODY],
    })
    await refuses(log({}), { status: 400, code: 'incomplete_reference', says: [singular] })
    const diff = (base: unknown) => ({
      path: `/${folder}/revisions/diff`,
      body: { base, head: { id: store.made.first } },
    })
    await refuses(diff({ id: NOBODY }), { status: 404, code: 'revision_not_found', says: [NOBODY] })
    await refuses(diff({}), { status: 400, code: 'incomplete_reference', says: ['needs'] })
    await refuses(diff(undefined), {
      status: 422,
      code: 'invalid_request',
      says: ['base'],
      at: [['body', 'base']],
    })
  })
})
