import { describeRefusals } from './describe-refusals.ts'

describeRefusals('slugs', ({ family, second, third, store }) => {
  const { singular, folder } = family
  const { refuses } = store

  const bad: readonly string[] = [
    '',
    'two words',
    'a/b',
    '../up',
    '-leading',
    '.hidden',
    'ümlaut',
    'line\n',
    'a..b',
    'main.lock',
    'main.LOCK',
    'main.git',
    'trailing.',
    'HEAD',
    'head',
    '0123456789abcdef0123456789abcdef01234567',
    'con',
    'NUL.txt',
    'lpt1',
    '__svc__mine',
    'x'.repeat(201),
  ]
  for (const slug of bad) {
    const name = slug.length > 60 ? `${slug.length} characters` : JSON.stringify(slug)
    // interface 4.7
    it(`${name} is no slug, for artifact, variant, fork and revision`, async () => {
      const { bot, botVariant } = store.made
      const requests: readonly (readonly [string, string, object])[] = [
        [`/${folder}`, singular, {}],
        [`/simple/${third.path}`, third.singular, {}],
        [`/${folder}/variants`, `${singular}_variant`, { [`${singular}_id`]: bot }],
        ['/variants/fork', `${singular}_variant`, {}],
        [
          `/${folder}/revisions/commit`,
          `${singular}_revision`,
          { [`${singular}_variant_id`]: botVariant, data: {} },
        ],
      ]
      for (const [path, key, more] of requests) {
        const source = path.endsWith('/fork') ? { [`${singular}_variant_ref`]: { id: botVariant } } : {}
        const body = { [key]: { slug, ...more }, ...source }
        await refuses(
          { path, body },
          {
            status: 422,
            code: 'invalid_request',
            says: [`body.${key}.slug`, 'slug'],
            at: [['body', key, 'slug']],
          },
        )
      }
    })
  }

  it('a slug that is no string is refused', () =>
    refuses(
      { path: `/${folder}`, body: { [singular]: { slug: 7 } } },
      { status: 422, code: 'invalid_request', says: [`${singular}.slug`], at: [['body', singular, 'slug']] },
    ))

  for (const slug of ['bot', 'BOT', 'Gone']) {
    it(`the artifact slug ${slug} is taken`, async () => {
      const taken = { status: 409, code: 'slug_taken', says: [`"${slug}"`] }
      await refuses({ path: `/${folder}`, body: { [singular]: { slug } } }, taken)
      await refuses(
        { path: `/simple/${second.path}`, body: { [second.singular]: { slug, data: {} } } },
        taken,
      )
    })
  }

  for (const slug of ['bot', 'Spare', 'OLD']) {
    // interface 3.7, 4.9
    it(`the variant slug ${slug} is taken, for a new variant and for a fork`, async () => {
      const { bot, botVariant } = store.made
      const taken = { status: 409, code: 'slug_taken', says: [`"${slug}"`] }
      await refuses(
        { path: `/${folder}/variants`, body: { [`${singular}_variant`]: { [`${singular}_id`]: bot, slug } } },
        taken,
      )
      await refuses(
        {
          path: `/${folder}/variants/fork`,
          body: { [`${singular}_variant`]: { slug }, [`${singular}_variant_ref`]: { id: botVariant } },
        },
        taken,
      )
    })
  }

  for (const [slug, why] of [
    ['launch', 'taken'],
    ['Launch', 'taken'],
    ['bot-1', 'reads as a version of'],
    ['bot-99', 'reads as a version of'],
    ['Bot-3', 'reads as a version of'],
    ['spare-7', 'reads as a version of'],
  ] as const) {
    it(`the revision slug ${slug}: ${why}`, () =>
      refuses(
        {
          path: `/${folder}/revisions/commit`,
          body: {
            [`${singular}_revision`]: { [`${singular}_variant_id`]: store.made.botVariant, slug, data: {} },
          },
        },
        { status: 409, code: 'slug_taken', says: [`"${slug}"`, why] },
      ))
  }
})
