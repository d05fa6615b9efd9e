import { expect } from 'chai'
import isomorphicGit from 'isomorphic-git'
import http from 'isomorphic-git/http/node'
import * as fs from 'node:fs'
import type { RunningService } from '../support/servers/service.ts'
import { ADMIN_KEY, startService } from '../support/servers/service.ts'
import { temporaryFolder } from '../support/git/git-program.ts'
import { EvaluationClient } from '../support/clients/evaluation-client.ts'

/** As the README has it: any user name, and an API key as the password. */
const onAuth = () => ({ username: 'me', password: ADMIN_KEY })
const author = { name: 'Ann', email: 'ann@example.com' }

describe('compat: isomorphic-git over HTTP', () => {
  let service: RunningService
  let made = 0
  let variant: string
  let clone: { readonly fs: typeof fs; readonly dir: string }

  before(async () => (service = await startService()))
  after(() => service.stop())

  beforeEach(async () => {
    const slug = `bot-${++made}`
    const workflow = { slug, data: { parameters: { n: 1 } } }
    variant = (await service.post('/simple/workflows/', { workflow })).body.workflow.variant_id
    await commit(2)
    clone = { fs, dir: temporaryFolder() }
    const url = `${service.url}/git/workflows/${slug}.git`
    await isomorphicGit.clone({ ...clone, http, onAuth, url })
  })

  it('clones: its log, trees and blobs are what REST says', async () => {
    const log = await isomorphicGit.log(clone)
    const { body } = await service.post('/workflows/revisions/log', {
      workflow: { workflow_variant_id: variant },
    })
    const revisions: any[] = body.workflow_revisions
    expect(revisions.map(({ version }) => version)).to.deep.equal(log.map((_, index) => log.length - index))
    expect(log[0]?.commit.message).to.match(new RegExp(`^${revisions[0].message}\\n`))
    const oid = log[0]?.oid ?? ''
    const { tree } = await isomorphicGit.readTree({ ...clone, oid })
    expect(tree.map(({ path }) => path)).to.include('data.json')
    expect(await dataOf(oid)).to.deep.equal((await latest()).data)
  })

  it('fetches what was committed since, and refuses nobody else’s key', async () => {
    await commit(3)
    const { fetchHead } = await isomorphicGit.fetch({ ...clone, http, onAuth })
    expect(await dataOf(fetchHead ?? '')).to.deep.equal((await latest()).data)
    const stranger = { ...clone, http, onAuth: () => ({ username: 'me', password: 'no-key' }) }
    const refused = await isomorphicGit.fetch(stranger).catch((error: Error) => error)
    expect(refused).to.have.property('code', 'HttpError')
  })

  it('commits and pushes: the push is the next revision', async () => {
    const data = { parameters: { n: 'pushed' } }
    fs.writeFileSync(`${clone.dir}/data.json`, JSON.stringify(data, undefined, 2))
    await isomorphicGit.add({ ...clone, filepath: 'data.json' })
    await isomorphicGit.commit({ ...clone, message: 'By isomorphic-git', author })
    expect((await isomorphicGit.push({ ...clone, http, onAuth })).ok).to.equal(true)
    const { version, message, data: stored } = await latest()
    expect([version, message, stored]).to.deep.equal([3, 'By isomorphic-git', data])
  })

  it('pushes nothing over what somebody committed meanwhile', async () => {
    await commit(3)
    fs.writeFileSync(`${clone.dir}/data.json`, '{}')
    await isomorphicGit.add({ ...clone, filepath: 'data.json' })
    await isomorphicGit.commit({ ...clone, message: 'Late', author })
    const refused = await isomorphicGit.push({ ...clone, http, onAuth }).catch((error: Error) => error)
    expect(refused).to.be.instanceOf(Error)
    expect((await latest()).data).to.deep.equal({ parameters: { n: 3 } })
  })

  it('reads the notes of evaluations, which say what the run answered', async () => {
    const client = new EvaluationClient(service)
    await client.testset('capitals', [{ country: 'Fiji', correct_answer: 'Suva' }])
    const data = { uri: 'svc:custom:mock:v0', parameters: { key: 'static', kwargs: { output: 'Suva' } } }
    await client.workflow('noted', data)
    await client.workflow('exact', { uri: 'svc:builtin:auto_exact_match:v0' }, { is_evaluator: true })
    const evaluation = await client.run({
      testset_ref: { slug: 'capitals' },
      application_ref: { slug: 'noted' },
      evaluator_refs: [{ slug: 'exact' }],
    })
    const noted = { fs, dir: temporaryFolder() }
    await isomorphicGit.clone({ ...noted, http, onAuth, url: `${service.url}/git/workflows/noted.git` })
    const ref = 'refs/notes/evaluations'
    const { fetchHead } = await isomorphicGit.fetch({ ...noted, http, onAuth, ref })
    await isomorphicGit.writeRef({ ...noted, ref, value: fetchHead ?? '' })
    const [head] = await isomorphicGit.log({ ...noted, depth: 1 })
    expect((await isomorphicGit.listNotes({ ...noted, ref })).map(({ target }) => target)).to.deep.equal([
      head?.oid,
    ])
    const note = await isomorphicGit.readNote({ ...noted, ref, oid: head?.oid ?? '' })
    const [line = ''] = Buffer.from(note).toString('utf8').split('\n')
    const { id, summary } = JSON.parse(line).evaluation
    // A note is a result, without what the runs took.
    const { usage: _usage, ...counts } = evaluation.summary
    expect([id, summary]).to.deep.equal([evaluation.id, counts])
  })

  function commit(n: number) {
    const data = { parameters: { n } }
    return service.post('/workflows/revisions/commit', {
      workflow_revision_commit: { workflow_variant_id: variant, message: `To ${n}`, data },
    })
  }

  async function latest(): Promise<any> {
    const { body } = await service.post('/workflows/revisions/retrieve', {
      workflow_variant_ref: { id: variant },
    })
    return body.workflow_revision
  }

  async function dataOf(oid: string): Promise<unknown> {
    const { blob } = await isomorphicGit.readBlob({ ...clone, oid, filepath: 'data.json' })
    return JSON.parse(Buffer.from(blob).toString('utf8'))
  }
})
