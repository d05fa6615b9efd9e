import { expect } from 'chai'
import { cloneIn, newFolder } from '../../support/git/git-client.ts'
import { ADMIN_KEY } from '../../support/servers/service.ts'
import { expectRefusal } from '../conformance/surface-client.ts'
import type { Made } from '../conformance/surface-client.ts'
import type { EnvironmentClient, MadeEnvironment } from './environment-client.ts'
import { startEnvironments } from './environment-client.ts'

describe('environments: what is archived', () => {
  let client: EnvironmentClient
  let to: MadeEnvironment
  let bot: Made
  before(async () => {
    client = await startEnvironments()
  })
  beforeEach(async () => {
    to = await client.environment()
    bot = await client.application(2)
  })
  after(() => client.stop())

  const archive = async (path: string, action = 'archive'): Promise<void> => {
    expect((await client.service.post(`${path}/${action}`)).status).to.equal(200)
  }
  const pin = (id: string) => ({ application_revision: { id } })
  const first = (): string => bot.revisions[0].id

  /** What can be archived of a revision. */
  const kinds: Readonly<Record<string, () => string>> = {
    'its application': () => `/applications/${bot.id}`,
    'its only variant': () => `/applications/variants/${bot.variantId}`,
    'the revision': () => `/applications/revisions/${first()}`,
  }

  /** Every way in which an environment comes to run the first revision; each answers the refusal's code, or ''. */
  const doors: Readonly<Record<string, () => Promise<string>>> = {
    deploy: async () => code(await client.deploy(to.slug, { application_revision_ref: { id: first() } })),
    'a commit of pins': async () =>
      code(await client.commit(to, { data: { references: { any: pin(first()) } } })),
    'a delta': async () => code(await client.commit(to, { delta: { set: { any: pin(first()) } } })),
    'a simple PUT': async () =>
      code(
        await client.service.put(`/simple/environments/${to.id}`, {
          environment: { data: { references: { any: pin(first()) } } },
        }),
      ),
    'a create': async () =>
      code(
        await client.service.post('/simple/environments/', {
          environment: { data: { references: { any: pin(first()) } } },
        }),
      ),
    push: () => pushed({ any: pin(first()) }),
  }

  async function pushed(references: object): Promise<string> {
    const clone = cloneIn(newFolder())
    const url = `${client.service.url.replace('//', `//any:${ADMIN_KEY}@`)}/git/environments/${to.slug}.git`
    await clone.git('clone', '-q', url, '.')
    clone.write('references.json', `${JSON.stringify(references, undefined, 2)}\n`)
    await clone.commit('Deploy by push')
    const { code: exit, terminal } = await clone.try('push', '-q', 'origin', `HEAD:refs/heads/${to.slug}`)
    if (exit === 0) return ''
    expect(terminal).to.match(/remote: Commit \w+ deploys what is archived. .* was archived at/s)
    return /\((\w+)\)\s*$/m.exec(terminal)?.[1] ?? terminal
  }

  for (const [door, knock] of Object.entries(doors)) {
    for (const [what, pathOf] of Object.entries(kinds)) {
      it(`${door}: refused while ${what} is archived, with nothing stored, and done afterwards`, async () => {
        await archive(pathOf())
        const before = client.refs()
        expect(await knock()).to.equal('archived')
        expect(client.refs()).to.deep.equal(before)
        await archive(pathOf(), 'unarchive')
        expect(await knock()).to.equal('')
      })
    }

    it(`${door}: done where a live variant shares the revision`, async () => {
      const forked = await client.service.post('/applications/variants/fork', {
        application_variant: { slug: `fork-${bot.slug}` },
        application_revision_ref: { id: first() },
      })
      expect(forked.status).to.equal(200)
      await archive(`/applications/variants/${bot.variantId}`)
      expect(await knock()).to.equal('')
    })
  }

  it('what is deployed already stays, whatever is archived since, and can be taken down', async () => {
    await client.committed(to, { data: { references: { old: pin(first()) } } })
    const other = await client.application(1)
    for (const pathOf of Object.values(kinds)) await archive(pathOf())
    await client.deployed(to.slug, { application_revision_ref: { id: other.revisions[0].id } })
    await client.committed(to, { delta: { set: { more: pin(other.revisions[0].id) } } })
    // The same, in other words.
    const said = { application: { slug: bot.slug }, application_revision: { id: first() } }
    await client.committed(to, { data: { references: { old: said } } })
    expect(await pushed({ old: said, more: pin(other.revisions[0].id) })).to.equal('')
    expectRefusal(
      await client.commit(to, { delta: { set: { twice: pin(first()) } } }),
      409,
      'archived',
      'twice',
    )
    await client.committed(to, { delta: { remove: ['old'] } })
    expect(await client.pins(to.slug)).to.have.all.keys('more')
  })

  it('a pin that leads nowhere is told of, as ever', async () => {
    const id = '01a1fbb1-f5c2-86ee-83de-000000000000'
    const { body } = await client.commit(to, { delta: { set: { any: pin(id) } } })
    expect(body.warnings).to.have.length(1)
  })

  it('a PUT that changes nothing is refused like any other', async () => {
    await archive(`/environments/${to.id}`)
    for (const [path, sent] of [
      [`/simple/environments/${to.id}`, { environment: {} }],
      [`/environments/${to.id}`, { environment: {} }],
      [`/environments/variants/${to.variantId}`, { environment_variant: {} }],
    ] as const) {
      expectRefusal(await client.service.put(path, sent), 409, 'archived', to.slug)
    }
  })

  it('rows are not written to or from an archived revision', async () => {
    const { body } = await client.service.post('/simple/testsets/', {
      testset: { data: { testcases: [{ data: { a: 1 } }] } },
    })
    const { id, revision_id } = body.testset
    await client.service.post('/testsets/revisions/commit', {
      testset_revision: { testset_id: id, delta: { rows: { add: [{ data: { a: 2 } }] } } },
    })
    await archive(`/testsets/revisions/${revision_id}`)
    const added = {
      testset_id: id,
      testset_revision_id: revision_id,
      delta: { rows: { add: [{ data: { a: 3 } }] } },
    }
    expectRefusal(
      await client.service.post('/testsets/revisions/commit', { testset_revision: added }),
      409,
      'archived',
    )
    const upload = await client.service.call(
      'POST',
      `/testsets/revisions/${revision_id}/upload`,
      '{"a": 4}\n',
      {
        'content-type': 'application/x-ndjson',
      },
    )
    expectRefusal(upload, 409, 'archived')
  })
})

function code({
  status,
  body,
}: {
  readonly status: number
  readonly body: { readonly code?: string }
}): string {
  return status === 200 ? '' : (body.code ?? `${status}`)
}
