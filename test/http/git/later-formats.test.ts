import { expect } from 'chai'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { git, gitBytes } from '../../support/git/git-program.ts'
import type { RunningService } from '../../support/servers/service.ts'
import { ADMIN_KEY, startService } from '../../support/servers/service.ts'
import { cloneIn, cloneOf, latest, newFolder, workflow } from '../../support/git/git-client.ts'

/** What a later server would write for a prompt whose text is a file. */
const LATER =
  '{\n  "@svc.format": 3,\n  "parameters": {\n    "prompt": {"@svc.file": "prompt/system.md"}\n  }\n}\n'

describe('git: a data.json of a later server’s format', () => {
  let service: RunningService
  before(async () => (service = await startService()))
  after(() => service.stop())

  /** Puts a file of an artifact where plain git puts it, past the service. */
  const bring = async (slug: string, text: string, family = 'workflows'): Promise<void> => {
    const clone = cloneIn(newFolder())
    await clone.git('clone', '-q', service.repository(slug, family), '.')
    writeFileSync(join(clone.folder, 'data.json'), text)
    await clone.commit('Later')
    await clone.git('push', '-q', 'origin', `HEAD:${slug}`)
  }

  const retrieve = (fields: object, surface = 'workflow') =>
    service.post(`/${surface === 'query' ? 'queries' : `${surface}s`}/revisions/retrieve`, fields)

  it('is refused on push, by name, of workflows and queries', async () => {
    await workflow(service, 'pushed')
    await service.post('/simple/queries/', { query: { slug: 'asked', data: { windowing: { limit: 1 } } } })
    for (const [slug, family] of [
      ['pushed', 'workflows'],
      ['asked', 'queries'],
    ] as const) {
      const clone = await cloneOf(service, slug, { family })
      for (const number of ['3', '3.0', '12345678901234567890']) {
        clone.write('data.json', LATER.replace('3', number))
        await clone.commit('Later')
        const { code, terminal } = await clone.try('push')
        expect(code).to.equal(1)
        expect(terminal).to.include('(unsupported format)')
        expect(terminal).to.include(`data.json is of the format ${number}, which this server does not know`)
        await clone.git('reset', '-q', '--hard', 'HEAD~1')
      }
    }
  })

  it('is 503 on reading, while lists show the revision without data and the others whole', async () => {
    const variant = await workflow(service, 'brought')
    await workflow(service, 'beside')
    const head = await latest(service, 'brought')
    await bring('brought', LATER)
    const byVariant = await retrieve({ workflow_variant_ref: { id: variant } })
    expect([byVariant.status, byVariant.body.code], byVariant.text).to.deep.equal([503, 'unsupported_format'])
    expect(byVariant.body.detail).to.include('data.json is of the format 3')
    const { body } = await service.post('/workflows/revisions/query')
    const listed = body.workflow_revisions.find(
      (it: { workflow_variant_id: string; version: number }) =>
        it.workflow_variant_id === variant && it.version === 2,
    )
    expect(listed).to.be.an('object')
    expect(listed.data ?? null).to.equal(null)
    expect(body.workflow_revisions.some((it: { data?: object }) => it.data !== undefined)).to.equal(true)
    const byId = await retrieve({ workflow_revision_ref: { id: listed.id } })
    expect([byId.status, byId.body.code]).to.deep.equal([503, 'unsupported_format'])
    for (const path of ['/workflows/query', '/simple/workflows/query', '/workflows/variants/query'])
      expect((await service.post(path)).status, path).to.equal(200)
    expect((await retrieve({ workflow_revision_ref: { id: head.id } })).status).to.equal(200)
    const diff = await service.post('/workflows/revisions/diff', {
      base: { id: head.id },
      head: { id: listed.id },
    })
    expect([diff.status, diff.body.code]).to.deep.equal([503, 'unsupported_format'])
  })

  it('has no delta on top, but forks, and commits that bring all data', async () => {
    const variant = await workflow(service, 'built')
    await bring('built', LATER)
    const commit = (fields: object) =>
      service.post('/workflows/revisions/commit', {
        workflow_revision_commit: { workflow_variant_id: variant, ...fields },
      })
    const delta = await commit({ delta: { set: { 'parameters.n': 2 } } })
    expect([delta.status, delta.body.code], delta.text).to.deep.equal([503, 'unsupported_format'])
    const fork = await service.post('/workflows/variants/fork', {
      workflow_variant: { slug: 'forked' },
      workflow_variant_ref: { id: variant },
    })
    expect(fork.status, fork.text).to.equal(200)
    const whole = await commit({ data: { parameters: { n: 3 } } })
    expect(whole.status, whole.text).to.equal(200)
    expect((await latest(service, 'built')).data.parameters).to.deep.equal({ n: 3 })
  })

  it('is no data that REST takes', async () => {
    const variant = await workflow(service, 'named')
    for (const fields of [
      { data: { '@svc.format': 2, parameters: {} } },
      { delta: { set: { '@svc.format': 2 } } },
    ]) {
      const reply = await service.post('/workflows/revisions/commit', {
        workflow_revision_commit: { workflow_variant_id: variant, ...fields },
      })
      expect(reply.status, reply.text).to.equal(422)
      expect(reply.body.detail).to.include('"@svc.format"')
    }
  })

  it('is only that whose first member says so, with a number', async () => {
    for (const [index, text] of ['{"parameters":{},"@svc.format":2}', '{"@svc.format":"2"}'].entries()) {
      await workflow(service, `plain${index}`)
      await bring(`plain${index}`, text)
      expect((await retrieve({ workflow_variant_ref: { slug: `plain${index}` } })).status).to.equal(200)
    }
  })

  it('is refused on restore, by name, also below the newest revision', async () => {
    const other = await startService()
    try {
      await workflow(other, 'backed')
      const copy = newFolder()
      const clone = cloneIn(copy)
      await clone.git('clone', '-q', '--mirror', other.repository('backed'), '.')
      const blob = git(copy, ['hash-object', '-w', '--stdin'], LATER)
      const tree = git(copy, ['mktree'], `100644 blob ${blob}\tdata.json\n`)
      const later = git(copy, ['commit-tree', tree, '-p', 'backed', '-m', 'Later'])
      const above = git(copy, ['commit-tree', 'backed^{tree}', '-p', later, '-m', 'Above'])
      for (const head of [later, above]) {
        git(copy, ['update-ref', 'refs/heads/backed', head])
        const bundle = gitBytes(copy, ['bundle', 'create', '--quiet', '-', '--all'])
        const answer = await fetch(`${service.url}/git/workflows/backed.git?head=refs/heads/backed`, {
          method: 'PUT',
          headers: { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': 'application/x-git-bundle' },
          body: new Uint8Array(bundle),
        })
        expect(answer.status).to.equal(422)
        expect(await answer.text()).to.include('data.json is of the format 3')
      }
    } finally {
      await other.stop()
    }
  })
})
