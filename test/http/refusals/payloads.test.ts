import { workflows } from '../conformance/tested-family.ts'
import { describeRefusals } from './describe-refusals.ts'

/** What of a commit is refused whatever a payload is. */
describeRefusals('payloads', ({ family, store }) => {
  const { singular, folder } = family
  const key = `${singular}_revision`
  const commit = (fields: object) => ({
    path: `/${folder}/revisions/commit`,
    body: { [key]: { [`${singular}_variant_id`]: store.made.botVariant, ...fields } },
  })

  // interface 3.3, 4.4
  it('both data and delta, or neither, is a 400', async () => {
    await store.refuses(commit({ data: {}, delta: {} }), {
      status: 400,
      code: 'contradictory_request',
      says: ['data', 'delta'],
    })
    await store.refuses(commit({ message: 'nothing' }), {
      status: 400,
      code: 'missing_payload',
      says: ['data', 'delta'],
    })
  })

  const deployTo = (deploy: unknown) => commit({ data: family.data('n1'), deploy })
  const invalid = (...at: (string | number)[]) => ({
    status: 422,
    code: 'invalid_request',
    says: [['body', key, ...at].join('.')],
    at: [['body', key, ...at]],
  })

  if (family !== workflows) {
    it('any environment, since it is not deployed', () =>
      store.refuses(deployTo(['production']), {
        ...invalid('deploy'),
        says: [`${folder} are not deployed`],
      }))
    return
  }

  it('environments that are no list, no slugs, or too many', async () => {
    await store.refuses(deployTo('production'), invalid('deploy'))
    await store.refuses(deployTo({ slug: 'production' }), invalid('deploy'))
    await store.refuses(deployTo(['production', 'a/b']), invalid('deploy', 1))
    await store.refuses(deployTo([7]), invalid('deploy', 0))
    const many = Array.from({ length: 21 }, (_, n) => `environment_${n}`)
    await store.refuses(deployTo(many), { ...invalid('deploy'), says: ['at most 20'] })
  })

  it('an environment that is not there', () =>
    store.refuses(deployTo(['nowhere']), {
      status: 404,
      code: 'environment_not_found',
      says: ['"nowhere"'],
    }))
})
