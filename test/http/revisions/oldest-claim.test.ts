import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { git } from '../../support/git/git-program.ts'
import type { RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import { cloneOf } from '../../support/git/git-client.ts'

const PROGRAM = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))

describe('http: a slug without an artifact beside it means its oldest claim', () => {
  let service: RunningService

  before(async () => (service = await startService()))
  after(() => service.stop())

  const make = async (slug: string, versions = 1): Promise<string> => {
    const { body, text } = await service.post('/simple/workflows', {
      workflow: { slug, data: { parameters: { of: slug, version: 1 } } },
    })
    expect(body.count, text).to.equal(1)
    for (let version = 2; version <= versions; version++) await commit(slug, version)
    return body.workflow.id
  }
  const commit = async (artifact: string, version: number, more: object = {}, headers = {}) => {
    const revision = { workflow_ref: { slug: artifact }, data: { parameters: { of: artifact, version } } }
    const body = { workflow_revision: { ...revision, ...more } }
    return service.post('/workflows/revisions/commit', body, headers)
  }
  const retrieve = (references: object) => service.post('/workflows/revisions/retrieve', references)
  /** The artifact and the version that references lead to. */
  const meant = async (references: object): Promise<string> => {
    const { body, text } = await retrieve(references)
    expect(body.count, text).to.equal(1)
    return `${body.workflow_revision.artifact_slug} ${body.workflow_revision.version}`
  }
  const codes = ({ warnings = [] }: { warnings?: { code: string }[] }): string[] =>
    warnings.map(({ code }) => code)
  const tagDates = (slug: string): Record<string, string> =>
    JSON.parse(git(service.repository(slug), ['show', 'refs/meta/artifact:tags.json']))

  // interface 5.9, 5.12
  it('whatever is pushed to another repository, which is told of it', async () => {
    const id = await make('victim', 2)
    await make('other')
    const clone = await cloneOf(service, 'other')
    const pushed = await clone.try('push', 'origin', 'HEAD:refs/heads/victim')
    expect(pushed.code, pushed.terminal).to.equal(0)
    expect(pushed.terminal).to.match(/remote: warning: shadowed_slug: .*"victim".* Name "other" beside it/)
    const alone = { workflow_variant_ref: { slug: 'victim' } }
    expect(await meant(alone)).to.equal('victim 2')
    expect(await meant({ workflow_revision_ref: { slug: 'victim-1' } })).to.equal('victim 1')
    expect(await meant({ ...alone, workflow_ref: { slug: 'other' } })).to.equal('other 1')
    // Archiving the first does not hand the name on.
    await service.post(`/workflows/${id}/archive`, {})
    expect(await meant(alone)).to.equal('victim 2')
    expect(await meant({ workflow_revision_ref: { slug: 'victim', version: 2 } })).to.equal('victim 2')
  })

  // interface 5.14
  it('verify lists each slug that two artifacts answer, and which one is meant', async () => {
    await make('spoken')
    await make('silent')
    const variant = { workflow_ref: { slug: 'silent' }, slug: 'spoken' }
    expect((await service.post('/workflows/variants', { workflow_variant: variant })).status).to.equal(200)
    const verify = spawn(process.execPath, [PROGRAM, 'verify', '--store', service.storeDir])
    const output = await text(verify.stdout)
    const [, named = ''] = /default\/workflows\/silent ([^]*?)default\//.exec(output) ?? []
    expect(named, output).to.match(/the variant slug "spoken" does not mean this one: "spoken"/)
  })

  // interface 5.10
  it('a pushed tag that reads as a version of a variant does not answer for it', async () => {
    await make('elder', 2)
    await make('tagger')
    const clone = await cloneOf(service, 'tagger')
    for (const tag of ['elder-1', 'elder-7']) await clone.git('tag', tag)
    const pushed = await clone.try('push', '-q', 'origin', '--tags')
    expect(pushed.terminal).to.match(/remote: warning: shadowed_slug: .*"elder-1".*version of "elder"/)
    expect(await meant({ workflow_revision_ref: { slug: 'elder-1' } })).to.equal('elder 1')
    const reply = await retrieve({ workflow_revision_ref: { slug: 'elder-7' } })
    expect(reply.status).to.equal(404)
    expect(reply.body.detail)
      .to.include('The latest version of "elder" is 2')
      .and.include('One is in "tagger"')
    // Once the variant has it, it is the variant's.
    for (let version = 3; version <= 7; version++) await commit('elder', version)
    expect(await meant({ workflow_revision_ref: { slug: 'elder-7' } })).to.equal('elder 7')
    const beside = { workflow_ref: { slug: 'tagger' }, workflow_revision_ref: { slug: 'elder-7' } }
    expect(await meant(beside)).to.equal('tagger 1')
    expect(Object.keys(tagDates('tagger'))).to.deep.equal(['elder-1', 'elder-7'])
  })

  it('a tag keeps its slug, though a variant elsewhere comes to read so', async () => {
    await make('keeper')
    expect(codes((await commit('keeper', 2, { slug: 'late-2' })).body)).to.deep.equal([])
    await make('latecomer', 2)
    const fork = await service.post('/variants/fork', {
      workflow_variant: { slug: 'late' },
      workflow_variant_ref: { slug: 'latecomer' },
    })
    expect(codes(fork.body)).to.deep.equal(['shadowed_slug'])
    expect(fork.body.warnings[0].message).to.include('"keeper" has had a revision "late-2"')
    expect(await meant({ workflow_revision_ref: { slug: 'late-2' } })).to.equal('keeper 2')
    expect(await meant({ workflow_revision_ref: { slug: 'late-1' } })).to.equal('latecomer 1')
  })

  // interface 5.9
  it('of artifacts, variants and tags, which {slug, version} looks at, the oldest decides', async () => {
    await make('room')
    await service.post('/variants/fork', {
      workflow_variant: { slug: 'desk' },
      workflow_variant_ref: { slug: 'room' },
    })
    const made = await service.post('/simple/workflows', {
      workflow: { slug: 'desk', data: { parameters: { of: 'desk' } } },
    })
    expect(codes(made.body)).to.deep.equal(['shadowed_slug'])
    expect(made.body.warnings[0].message).to.include('"room" has had a variant of that slug')
    expect(made.body.workflow.variant_id).to.be.a('string')
    expect(await meant({ workflow_revision_ref: { slug: 'desk', version: 1 } })).to.equal('room 1')
    expect(await meant({ workflow_variant_ref: { slug: 'desk' } })).to.equal('room 1')
    // An artifact reference looks at artifacts only.
    expect(await meant({ workflow_ref: { slug: 'desk' } })).to.equal('desk 1')
    expect(await meant({ workflow_variant_ref: { slug: 'desk_2' } })).to.equal('desk 1')
    await make('hub', 2)
    await make('spoke', 3)
    const fork = { workflow_variant: { slug: 'hub' }, workflow_variant_ref: { slug: 'spoke' } }
    expect(codes((await service.post('/variants/fork', fork)).body)).to.deep.equal(['shadowed_slug'])
    expect(codes((await commit('spoke', 4, { slug: 'room' })).body)).to.deep.equal(['shadowed_slug'])
    expect(await meant({ workflow_revision_ref: { slug: 'hub', version: 2 } })).to.equal('hub 2')
    expect(await meant({ workflow_revision_ref: { slug: 'room', version: 1 } })).to.equal('room 1')
    const three = await retrieve({ workflow_revision_ref: { slug: 'hub', version: 3 } })
    expect(three.status).to.equal(404)
    expect(three.body.details.artifacts.map((it: { slug: string }) => it.slug)).to.deep.equal(['spoke'])
  })

  // interface 5.12
  it('two revisions may be given one slug, and a repeated request is told of it again', async () => {
    await make('first')
    await make('second')
    expect(codes((await commit('first', 2, { slug: 'stable' })).body)).to.deep.equal([])
    const key = { 'Idempotency-Key': 'stable-of-second' }
    const answers = [
      await commit('second', 2, { slug: 'stable' }, key),
      await commit('second', 2, { slug: 'stable' }, key),
    ]
    for (const { body } of answers) expect(codes(body)).to.deep.equal(['shadowed_slug'])
    expect(answers[1]?.body.workflow_revision).to.deep.equal(answers[0]?.body.workflow_revision)
    expect(await meant({ workflow_revision_ref: { slug: 'stable' } })).to.equal('first 2')
    const refused = await commit('first', 3, { slug: 'Stable' })
    expect([refused.status, refused.body.code]).to.deep.equal([409, 'slug_taken'])
    expect(tagDates('first').stable! < tagDates('second').stable!).to.equal(true)
  })

  it('what lies in the trash keeps its slugs, and says so', async () => {
    await make('thrown', 2)
    await make('kept')
    const fork = { workflow_variant: { slug: 'thrown' }, workflow_variant_ref: { slug: 'kept' } }
    await service.post('/variants/fork', fork)
    const gone = await service.call('DELETE', '/simple/workflows/thrown')
    expect(gone.status, gone.text).to.equal(200)
    for (const references of [
      { workflow_variant_ref: { slug: 'thrown' } },
      { workflow_revision_ref: { slug: 'thrown-1' } },
      { workflow_revision_ref: { slug: 'thrown', version: 1 } },
    ]) {
      const reply = await retrieve(references)
      expect(reply.status).to.equal(404)
      expect(reply.body.trashed_at).to.be.a('string')
    }
    await service.post(`/simple/workflows/${gone.body.workflow.id}/undelete`, {})
    expect(await meant({ workflow_variant_ref: { slug: 'thrown' } })).to.equal('thrown 2')
  })

  // interface 4.10, 4.11
  it('a slug is made of a name, and of one that is taken with _2', async () => {
    const made = async (name: string): Promise<string> =>
      (await service.post('/workflows', { workflow: { name } })).body.workflow.slug
    expect(await made('Größe 2')).to.equal('groesse-2')
    expect(await made('Größe 2')).to.equal('groesse-2_2')
    expect(await made('  Ünïcode -- Straße!  ')).to.equal('uenicode-strasse')
    expect(await made('東京')).to.match(/^[0-9a-f]{12}$/)
    expect(await made('con')).to.match(/^[0-9a-f]{12}$/)
  })
})
