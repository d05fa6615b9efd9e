import { arrangeRefused } from './refused-fixture.ts'
import { refusedRequests } from './refused-requests.ts'

describe('refusals: slugs', () => {
  const store = refusedRequests(arrangeRefused)
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
    it(`${name} is no slug, for artifact, variant, fork and revision`, async () => {
      const { bot, botVariant } = store.made
      const requests: readonly (readonly [string, string, object])[] = [
        ['/workflows', 'workflow', {}],
        ['/simple/evaluators', 'evaluator', {}],
        ['/workflows/variants', 'workflow_variant', { workflow_id: bot }],
        ['/variants/fork', 'workflow_variant', {}],
        ['/workflows/revisions/commit', 'workflow_revision', { workflow_variant_id: botVariant, data: {} }],
      ]
      for (const [path, key, more] of requests) {
        const body = { [key]: { slug, ...more }, workflow_variant_ref: { id: botVariant } }
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
      { path: '/workflows', body: { workflow: { slug: 7 } } },
      { status: 422, code: 'invalid_request', says: ['workflow.slug'], at: [['body', 'workflow', 'slug']] },
    ))

  for (const slug of ['bot', 'BOT', 'Gone']) {
    it(`the artifact slug ${slug} is taken`, async () => {
      const taken = { status: 409, code: 'slug_taken', says: [`"${slug}"`] }
      await refuses({ path: '/workflows', body: { workflow: { slug } } }, taken)
      await refuses({ path: '/simple/applications', body: { application: { slug, data: {} } } }, taken)
    })
  }

  for (const slug of ['bot', 'Spare', 'OLD', 'gone']) {
    it(`the variant slug ${slug} is taken, for a new variant and for a fork`, async () => {
      const { bot, botVariant } = store.made
      const taken = { status: 409, code: 'slug_taken', says: [`"${slug}"`] }
      await refuses(
        { path: '/workflows/variants', body: { workflow_variant: { workflow_id: bot, slug } } },
        taken,
      )
      await refuses(
        {
          path: '/workflows/variants/fork',
          body: { workflow_variant: { slug }, workflow_variant_ref: { id: botVariant } },
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
          path: '/workflows/revisions/commit',
          body: { workflow_revision: { workflow_variant_id: store.made.botVariant, slug, data: {} } },
        },
        { status: 409, code: 'slug_taken', says: [`"${slug}"`, why] },
      ))
  }
})
