import { expect } from 'chai'
import type { RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'

interface Made {
  readonly id: string
  readonly variant_id: string
  readonly revision_id: string
}

/** References of which only some are followed, what of them is named in the warning, and which version of "one" is answered. */
type Case = readonly [name: string, references: () => object, named: readonly string[]]

for (const compat of ['none', 'existing'] as const) {
  describe(`http: references that contradict each other, with COMPAT=${compat}`, () => {
    let service: RunningService
    let one: Made
    let two: Made

    const make = async (slug: string): Promise<Made> => {
      const body = { application: { slug, data: { parameters: { of: slug } } } }
      const { application } = (await service.post('/simple/applications', body)).body
      return application
    }
    const retrieve = (references: object) => service.post('/applications/revisions/retrieve', references)

    before(async () => {
      service = await startService({ env: { COMPAT: compat } })
      one = await make('one')
      two = await make('two')
      await service.post('/variants/fork', {
        application_variant: { slug: 'side' },
        application_variant_ref: { slug: 'one' },
      })
      await service.post('/applications/revisions/commit', {
        application_revision_commit: {
          application_variant_id: one.variant_id,
          data: { parameters: { n: 2 } },
        },
      })
      for (const [artifact, environment] of [
        [one, 'staging'],
        [two, 'production'],
      ] as const)
        await service.post('/applications/revisions/deploy', {
          application_revision_ref: { id: artifact.revision_id },
          environment_ref: { slug: environment },
        })
    })
    after(() => service.stop())

    const revision = () => ({ application_revision_ref: { id: one.revision_id } })
    const disagreeing: readonly Case[] = [
      [
        'a variant that does not hold the revision',
        () => ({ ...revision(), application_variant_ref: { id: two.variant_id } }),
        ['application_variant_ref.id'],
      ],
      [
        'a variant by its slug',
        () => ({ ...revision(), application_variant_ref: { slug: 'two' } }),
        ['application_variant_ref.slug "two" does not match "one"'],
      ],
      [
        'another artifact',
        () => ({ ...revision(), application_ref: { slug: 'two' } }),
        ['application_ref.slug "two" does not match "one"'],
      ],
      [
        'another artifact beside a variant',
        () => ({ application_variant_ref: { id: one.variant_id }, application_ref: { id: two.id } }),
        ['application_ref.id', 'that is "two"'],
      ],
      [
        'two at once',
        () => ({
          ...revision(),
          application_variant_ref: { slug: 'two' },
          application_ref: { slug: 'two' },
        }),
        ['application_variant_ref.slug "two"', 'application_ref.slug "two"'],
      ],
      [
        'an environment that runs something else',
        () => ({ ...revision(), environment_ref: { slug: 'production' } }),
        ['environment_ref.slug "production"', 'runs something else'],
      ],
      [
        'an environment in which nothing was deployed',
        () => ({ ...revision(), environment_ref: { slug: 'development' } }),
        ['environment_ref.slug "development"'],
      ],
      [
        'another version beside the id',
        () => ({ application_revision_ref: { id: one.revision_id, version: 7 } }),
        ['application_revision_ref.version 7 does not match 1'],
      ],
      [
        'another slug beside the id',
        () => ({ application_revision_ref: { id: one.revision_id, slug: 'two-1' } }),
        ['application_revision_ref.slug "two-1"'],
      ],
    ]
    for (const [name, references, named] of disagreeing)
      // interface 5.3, 5.4
      it(`${name}: ${compat === 'none' ? 'the most specific is answered with a warning' : '400'}`, async () => {
        for (const ask of [references(), { ...references(), resolve: true }]) {
          const { status, body, text } = await retrieve(ask)
          if (compat === 'existing') {
            expect([status, body.code], text).to.deep.equal([400, 'contradictory_request'])
            for (const part of named) expect(body.detail).to.include(part)
            continue
          }
          expect(status, text).to.equal(200)
          const codes = body.warnings.map((it: { code: string }) => it.code)
          const messages = body.warnings.map((it: { message: string }) => it.message).join(' ')
          expect(new Set(codes)).to.deep.equal(new Set(['reference_disagrees']))
          for (const part of named) expect(messages).to.include(part)
          expect(body.application_revision.application_id).to.equal(one.id)
        }
      })

    const agreeing: readonly (readonly [string, () => object])[] = [
      [
        'what holds it',
        () => ({
          ...revision(),
          application_variant_ref: { slug: 'one' },
          application_ref: { slug: 'one' },
          environment_ref: { slug: 'staging' },
        }),
      ],
      ['another variant that holds it', () => ({ ...revision(), application_variant_ref: { slug: 'side' } })],
      [
        'its own slug and version',
        () => ({ application_revision_ref: { id: one.revision_id, slug: 'one-1', version: 1 } }),
      ],
      ['what does not exist', () => ({ ...revision(), application_variant_ref: { slug: 'nobody' } })],
      [
        'where a slug is looked for',
        () => ({ application_revision_ref: { slug: 'one-1' }, application_ref: { slug: 'one' } }),
      ],
      [
        'the artifact that chooses a deployment',
        () => ({ environment_ref: { slug: 'staging' }, application_ref: { slug: 'one' } }),
      ],
    ]
    for (const [name, references] of agreeing)
      it(`${name} beside it is no contradiction`, async () => {
        const { status, body, text } = await retrieve(references())
        expect(status, text).to.equal(200)
        expect(body).to.not.have.property('warnings')
        expect(body.application_revision.id).to.equal(one.revision_id)
      })

    it('a warning is part of what the entity tag is of', async () => {
      const plain = await retrieve(revision())
      const contradictory = await retrieve({ ...revision(), application_ref: { slug: 'two' } })
      if (compat === 'existing') expect(contradictory.status).to.equal(400)
      else expect(contradictory.headers.get('etag')).to.not.equal(plain.headers.get('etag'))
    })

    it('a deployment and a fork are told of it, or are not done', async () => {
      const beside = {
        application_revision_ref: { id: one.revision_id },
        application_variant_ref: { slug: 'two' },
      }
      const deployed = await service.post('/applications/revisions/deploy', {
        ...beside,
        environment_ref: { slug: 'development' },
      })
      const forked = await service.post('/variants/fork', {
        application_variant: { slug: 'late' },
        ...beside,
      })
      const after = await retrieve({
        environment_ref: { slug: 'development' },
        application_ref: { slug: 'one' },
      })
      for (const { status, body, text } of [deployed, forked]) {
        if (compat === 'existing') expect([status, body.code]).to.deep.equal([400, 'contradictory_request'])
        else {
          expect(status, text).to.equal(200)
          expect(body.warnings.map((it: { code: string }) => it.code)).to.deep.equal(['reference_disagrees'])
        }
      }
      expect(after.status).to.equal(compat === 'existing' ? 404 : 200)
      const variants = await service.post('/applications/variants/query', {
        application_variant: { slug: 'late' },
      })
      expect(variants.body.count).to.equal(compat === 'existing' ? 0 : 1)
    })
  })
}
