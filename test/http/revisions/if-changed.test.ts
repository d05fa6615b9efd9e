import { expect } from 'chai'
import { git } from '../../support/git/git-program.ts'
import { ADMIN_KEY, type Reply } from '../../support/servers/service.ts'
import type { TestsetClient } from '../testsets/testset-client.ts'
import { TestFollower } from '../events/follower.ts'
import { startTestsets } from '../testsets/testset-client.ts'

/** Of each family: two payloads that differ, and the first one again with its keys in another order. */
const FAMILIES = {
  workflow: {
    plural: 'workflows',
    data: { parameters: { a: 1, b: { c: [1, 2.5], prompt: 'one\ntwo' } } },
    again: { parameters: { b: { prompt: 'one\ntwo', c: [1, 2.5] }, a: 1 } },
    other: { parameters: { a: 2 } },
  },
  application: {
    plural: 'applications',
    data: { parameters: { prompt: { messages: [{ role: 'user', content: 'Hello, {{name}}!' }] } } },
    again: { parameters: { prompt: { messages: [{ content: 'Hello, {{name}}!', role: 'user' }] } } },
    other: { parameters: { prompt: { messages: [{ role: 'user', content: 'Bye' }] } } },
  },
  evaluator: {
    plural: 'evaluators',
    data: { parameters: { threshold: 0.5 } },
    again: { parameters: { threshold: 0.5 } },
    other: { parameters: { threshold: 0.6 } },
  },
  testset: {
    plural: 'testsets',
    data: { testcases: [{ data: { k: '1', a: 'x' } }, { data: { k: '2', a: 'y' } }] },
    again: { testcases: [{ data: { k: '1', a: 'x' } }, { data: { a: 'y', k: '2' } }] },
    other: { testcases: [{ data: { k: '1', a: 'z' } }] },
  },
  environment: {
    plural: 'environments',
    data: { references: { a: { workflow: { slug: 'a' } }, b: { workflow: { slug: 'b' } } } },
    again: { references: { b: { workflow: { slug: 'b' } }, a: { workflow: { slug: 'a' } } } },
    other: { references: {} },
  },
  query: {
    plural: 'queries',
    data: { windowing: { limit: 5 } },
    again: { windowing: { limit: 5 } },
    other: { windowing: { limit: 6 } },
  },
} as const

describe('if_changed', () => {
  let client: TestsetClient
  let number = 0
  before(async () => (client = await startTestsets()))
  after(() => client.stop())

  const post = (path: string, body: object, headers?: Record<string, string>): Promise<Reply> =>
    client.service.post(path, body, headers)
  const done = async (reply: Promise<Reply>): Promise<any> => {
    const { status, text, body } = await reply
    expect(status, text).to.equal(200)
    return body
  }
  type FamilyName = keyof typeof FAMILIES
  /** An artifact of its own whose version 1 holds `data`. */
  async function make(family: FamilyName): Promise<string> {
    const slug = `if${++number}`
    const { plural, data } = FAMILIES[family]
    await done(post(`/simple/${plural}/`, { [family]: { slug, data } }))
    return slug
  }
  const commit = (family: FamilyName, slug: string, fields: object, beside: object = {}, headers = {}) =>
    post(
      `/${FAMILIES[family].plural}/revisions/commit`,
      { [`${family}_revision_commit`]: { [`${family}_variant_ref`]: { slug }, ...fields }, ...beside },
      headers,
    )
  const asked = { if_changed: true }
  const repository = (family: FamilyName, slug: string): string =>
    client.service.repository(
      slug,
      family === 'application' || family === 'evaluator' ? 'workflows' : FAMILIES[family].plural,
    )
  const objects = (family: FamilyName, slug: string): string =>
    git(repository(family, slug), ['cat-file', '--batch-all-objects', '--batch-check', '--unordered'])
      .split('\n')
      .sort()
      .join('\n')

  for (const family of Object.keys(FAMILIES) as FamilyName[]) {
    const { plural, data, again, other } = FAMILIES[family]
    const key = `${family}_revision`

    // interface 4.18, 3.6
    it(`${plural}: commits nothing where nothing changed, and says so`, async () => {
      const slug = await make(family)
      const first = await done(commit(family, slug, { data: other, message: 'Other' }, asked))
      expect([first.changed, first[key].version]).to.deep.equal([true, 2])
      await done(commit(family, slug, { data }))
      const before = objects(family, slug)
      const same = await done(commit(family, slug, { data: again, message: 'Nightly' }, asked))
      expect([same.changed, same[key].version]).to.deep.equal([false, 3])
      expect(same[key].message ?? null).to.equal(null)
      expect(objects(family, slug)).to.equal(before)
      const without = await done(commit(family, slug, { data }))
      expect([without.changed, without[key].version]).to.deep.equal([undefined, 4])
      const never = await done(commit(family, slug, { data }, { if_changed: false }))
      expect([never.changed, never[key].version]).to.deep.equal([undefined, 5])
    })

    // interface 4.18
    it(`${plural}: a header that differs is a change, a message is none`, async () => {
      const slug = await make(family)
      for (const header of [
        { name: 'A name' },
        { description: 'Said' },
        { tags: { t: 'x' } },
        { meta: { m: 1 } },
      ]) {
        const { changed } = await done(commit(family, slug, { data, ...header, message: 'M' }, asked))
        expect(changed, JSON.stringify(header)).to.equal(true)
        const same = await done(commit(family, slug, { data: again, ...header, message: 'Other' }, asked))
        expect(same.changed, JSON.stringify(header)).to.equal(false)
      }
      await done(commit(family, slug, { data, meta: { m: 1, n: { a: 1, b: 2 } } }))
      const ordered = { data: again, meta: { n: { b: 2, a: 1 }, m: 1 } }
      expect((await done(commit(family, slug, ordered, asked))).changed).to.equal(false)
      const { changed } = await done(commit(family, slug, { data }, asked))
      expect(changed).to.equal(true)
    })

    it(`${plural}: in the query string, and of a PUT with data`, async () => {
      const slug = await make(family)
      const path = `/${plural}/revisions/commit?if_changed=true`
      const body = { [`${family}_revision`]: { [`${family}_variant_ref`]: { slug }, data: again } }
      expect(await done(post(path, body))).to.include({ changed: false })
      const put = (data: object, query = ''): Promise<any> =>
        done(client.service.put(`/simple/${plural}/${slug}${query}`, { [family]: { data } }))
      expect((await put(again, '?if_changed=true')).changed).to.equal(false)
      expect((await put(other, '?if_changed=true')).changed).to.equal(true)
      expect((await put(other)).changed).to.equal(undefined)
      const log = await done(
        post(`/${plural}/revisions/log`, { [family]: { [`${family}_variant_ref`]: { slug } } }),
      )
      expect(log.count).to.equal(3)
    })
  }

  it('a chosen slug that the latest revision does not have is a change, and no slug is dropped in silence', async () => {
    for (const family of ['workflow', 'testset'] as const) {
      const { plural, data, again } = FAMILIES[family]
      const slug = await make(family)
      const key = `${family}_revision`
      const golden = `golden_${slug}`
      const named = await done(commit(family, slug, { data: again, slug: golden }, asked))
      expect([named.changed, named[key].version, named[key].slug]).to.deep.equal([true, 2, golden])
      const found = await done(post(`/${plural}/revisions/retrieve`, { [`${key}_ref`]: { slug: golden } }))
      expect(found[key].id).to.equal(named[key].id)
      const same = await done(commit(family, slug, { data: again, slug: golden }, asked))
      expect([same.changed, same[key].id]).to.deep.equal([false, named[key].id])
      const next = await done(commit(family, slug, { data, slug: `${golden}.next` }, asked))
      expect([next.changed, next[key].version]).to.deep.equal([true, 3])
      // The slug that a version has by itself comes back in its record.
      await done(commit(family, slug, { data }))
      const numbered = await done(commit(family, slug, { data: again, slug: `${slug}-4` }, asked))
      expect([numbered.changed, numbered[key].slug]).to.deep.equal([false, `${slug}-4`])
      for (const taken of [golden, `${slug}-3`, `${slug}-5`]) {
        const refused = await commit(family, slug, { data: again, slug: taken }, asked)
        expect([refused.status, refused.body.code], taken).to.deep.equal([409, 'slug_taken'])
      }
    }
  })

  it('a delta that changes nothing commits nothing', async () => {
    const slug = await make('workflow')
    const delta = { set: { parameters: FAMILIES.workflow.data.parameters } }
    expect((await done(commit('workflow', slug, { delta }, asked))).changed).to.equal(false)
    const rows = await make('testset')
    const add = { rows: { add: [{ data: { k: '2', a: 'y' } }] } }
    expect((await done(commit('testset', rows, { delta: add }, asked))).changed).to.equal(false)
  })

  it('compares with the latest revision, below those that are archived', async () => {
    for (const family of ['workflow', 'testset'] as const) {
      const { plural, data, again, other } = FAMILIES[family]
      const slug = await make(family)
      const { [`${family}_revision`]: head } = await done(commit(family, slug, { data: other }))
      await done(post(`/${plural}/revisions/${head.id}/archive`, {}))
      const same = await done(commit(family, slug, { data: again }, asked))
      expect([same.changed, same[`${family}_revision`].version]).to.deep.equal([false, 1])
      const back = await done(commit(family, slug, { data: other }, asked))
      expect([back.changed, back[`${family}_revision`].version]).to.deep.equal([true, 3])
      expect(data).to.be.an('object')
    }
  })

  it('a text that git brought with other bytes is what it says', async () => {
    const slug = await make('workflow')
    const gitdir = repository('workflow', slug)
    const pretty = git(gitdir, ['show', `${slug}:data.json`])
    const blob = git(gitdir, ['hash-object', '-w', '--stdin'], JSON.stringify(JSON.parse(pretty)))
    const entries = git(gitdir, ['ls-tree', slug]).replace(/[0-9a-f]{40}\tdata\.json/, `${blob}\tdata.json`)
    const tree = git(gitdir, ['mktree'], `${entries}\n`)
    const pushed = git(gitdir, ['commit-tree', '-p', slug, '-m', 'By hand', tree])
    git(gitdir, ['update-ref', `refs/heads/${slug}`, pushed])
    const same = await done(commit('workflow', slug, { data: FAMILIES.workflow.data }, asked))
    expect([same.changed, same.workflow_revision.version]).to.deep.equal([false, 2])
  })

  it('conditions count all the same, and a refused payload is refused', async () => {
    const slug = await make('workflow')
    const stale = await commit(
      'workflow',
      slug,
      {
        data: FAMILIES.workflow.data,
        base_revision_id: '00000000-0000-8000-8000-000000000000',
      },
      asked,
    )
    expect(stale.body.code).to.equal('revision_conflict')
    const matched = await commit('workflow', slug, { data: FAMILIES.workflow.data }, asked, {
      'if-match': '"00000000-0000-8000-8000-000000000000"',
    })
    expect(matched.status).to.equal(412)
    const odd = await commit('workflow', slug, { data: FAMILIES.workflow.data }, { if_changed: 'yes' })
    expect([odd.status, odd.body.errors?.[0]?.loc]).to.deep.equal([422, ['body', 'if_changed']])
  })

  // interface 4.18
  it('deploy beside it deploys the latest all the same, and says where that is new', async () => {
    const slug = await make('application')
    const { data, again } = FAMILIES.application
    await done(commit('application', slug, { data }))
    const deploy = (to: readonly string[]): Promise<any> =>
      done(commit('application', slug, { data: again, deploy: to }, asked))
    const first = await deploy(['staging'])
    expect(first.changed).to.equal(false)
    const { id } = first.application_revision
    const deployed = (environment: string, changed: boolean) => ({
      environment,
      revision_id: id,
      version: 2,
      changed,
    })
    expect(first.deployments).to.deep.equal([deployed('staging', true)])
    const second = await deploy(['staging', 'production'])
    expect(second.deployments).to.deep.equal([deployed('staging', false), deployed('production', true)])
    const runs = await done(
      post('/applications/revisions/retrieve', {
        environment_ref: { slug: 'production' },
        application_ref: { slug },
      }),
    )
    expect(runs.application_revision).to.include({ id, version: 2 })
    const changed = await done(
      commit('application', slug, { data: FAMILIES.application.other, deploy: ['staging'] }, asked),
    )
    expect(changed.deployments).to.deep.equal([
      { environment: 'staging', revision_id: changed.application_revision.id, version: 3, changed: true },
    ])
  })

  it('where nothing changed, no object is stored, with deploy and without', async () => {
    const slug = await make('application')
    const data = { parameters: { b: 1, a: 'one\ntwo' } }
    await done(commit('application', slug, { data, deploy: ['staging'] }))
    const again = { parameters: { a: 'one\ntwo', b: 1.0 } }
    const stored = (): readonly string[] => {
      const folders = [repository('application', slug), client.service.repository('staging', 'environments')]
      return folders.map((it) => git(it, ['cat-file', '--batch-all-objects', '--batch-check']))
    }
    const before = stored()
    for (const deploy of [undefined, ['staging']]) {
      const { changed } = await done(
        commit('application', slug, { data: again, deploy, message: 'no' }, asked),
      )
      expect(changed).to.equal(false)
    }
    expect(stored()).to.deep.equal(before)
    // Only the environment is written to, and what was built beside it is not stored.
    const { deployments } = await done(
      commit('application', slug, { data: again, deploy: ['production'], message: 'no' }, asked),
    )
    expect(deployments[0].changed).to.equal(true)
    expect(stored()[0]).to.equal(before[0])
  })

  // interface 4.18
  it('an Idempotency-Key remembers the answer', async () => {
    const slug = await make('application')
    const { data, again, other } = FAMILIES.application
    await done(
      post('/applications/variants/fork', {
        application_variant: { slug: `${slug}-try` },
        application_variant_ref: { slug },
      }),
    )
    const keyed = (): Promise<any> =>
      done(
        commit('application', `${slug}-try`, { data: again, deploy: ['development'] }, asked, {
          'idempotency-key': `nightly ${slug}`,
        }),
      )
    const first = await keyed()
    expect([first.changed, first.application_revision.variant_slug]).to.deep.equal([false, `${slug}-try`])
    await done(commit('application', `${slug}-try`, { data: other }))
    expect(await keyed()).to.deep.equal(first)
    const log = await done(
      post('/applications/revisions/log', {
        application: { application_variant_ref: { slug: `${slug}-try` } },
      }),
    )
    expect(log.count).to.equal(2)
    expect(data).to.be.an('object')
  })

  // interface 4.18
  it('no event tells of it', async () => {
    const slug = await make('workflow')
    const { again, other } = FAMILIES.workflow
    const follower = await TestFollower.open(client.service.url)
    await done(commit('workflow', slug, { data: again }, asked))
    const { workflow_revision: made } = await done(commit('workflow', slug, { data: other }, asked))
    const isOurs = ({ data }: any): boolean => data.kind === 'revision' && JSON.stringify(data).includes(slug)
    const first = await follower.find(isOurs)
    expect(JSON.stringify(first.data)).to.include(made.id)
    follower.close()
  })

  describe('uploads', () => {
    const FILE = 'k,a\n1,x\n2,y\n'

    it('to a testset and to a revision commit nothing where the rows are there', async () => {
      const { id, slug, revisionId } = await client.makeOf(FILE)
      const before = objects('testset', slug)
      const send = (path: string, file: string, headers = {}): Promise<any> =>
        done(client.send(path, file, { fields: asFields, headers }))
      const asFields = { if_changed: 'true', message: 'Nightly' }
      const simple = { if_changed: 'true' }
      const same = await done(client.send(`/simple/testsets/${id}/upload`, FILE, { fields: simple }))
      expect([same.changed, same.testset.revision_id]).to.deep.equal([false, revisionId])
      const keyed = { 'idempotency-key': `upload ${slug}` }
      const first = await send(`/testsets/revisions/${revisionId}/upload`, FILE, keyed)
      expect([first.changed, first.testset_revision.id]).to.deep.equal([false, revisionId])
      expect(await send(`/testsets/revisions/${revisionId}/upload`, FILE, keyed)).to.deep.equal(first)
      expect(objects('testset', slug)).to.equal(before)
      const other = await send(`/testsets/revisions/${revisionId}/upload`, 'k,a\n2,y\n1,x\n')
      expect([other.changed, other.testset_revision.version], 'another order').to.deep.equal([true, 2])
      const plain = await done(client.send(`/simple/testsets/${id}/upload`, 'k,a\n2,y\n1,x\n'))
      expect([plain.changed, plain.testset.revision_id]).not.to.include(other.testset_revision.id)
    })

    it('the query string says it where the body is the file', async () => {
      const { id, revisionId } = await client.makeOf(FILE)
      const response = await fetch(`${client.service.url}/simple/testsets/${id}/upload?if_changed=true`, {
        method: 'POST',
        headers: { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': 'text/csv' },
        body: FILE,
      })
      const { changed, testset } = (await response.json()) as any
      expect([changed, testset.revision_id]).to.deep.equal([false, revisionId])
    })

    it('rows are the same with their dedup ids: an edited row keeps the one that it had', async () => {
      const { id, revisionId, ids } = await client.makeOf('k,a\n1,x\n2,y\n3,z\n4,u\n')
      const { body } = await client.commit({
        testset_id: id,
        testset_revision_id: revisionId,
        delta: { rows: { replace: [{ id: ids[2], data: { k: '3', a: 'changed' } }], remove: [ids[0]] } },
      })
      const edited = body.testset_revision.id
      const upload = (file: string): Promise<any> =>
        done(client.send(`/simple/testsets/${id}/upload`, file, { fields: { if_changed: 'true' } }))
      const own = await upload(await client.download(edited))
      expect([own.changed, own.testset.revision_id]).to.deep.equal([false, edited])
      expect((await upload('k,a\n2,y\n3,changed\n4,u\n')).changed).to.equal(true)
      expect((await upload('k,a\n2,y\n3,changed\n4,u\n')).changed).to.equal(false)
      expect((await upload('k,a\n4,u\n2,y\n3,changed\n')).changed).to.equal(true)
      expect((await upload('k,a\n4,u\n2,y\n3,changed\n')).changed).to.equal(false)
    })
  })
})
