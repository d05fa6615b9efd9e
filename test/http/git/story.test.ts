import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import { git } from '../../support/git/git-program.ts'
import type { RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import type { Clone } from '../../support/git/git-client.ts'
import { cloneOf, latest, workflow } from '../../support/git/git-client.ts'

describe('git: a prompt’s life from a clone', () => {
  let service: RunningService
  let clone: Clone
  before(async () => {
    service = await startService()
    await workflow(service, 'bot')
  })
  after(() => service.stop())

  // interface 15.1
  it('clones at the git_url of the record', async () => {
    const { body } = await service.post('/workflows/query', { workflow: { slug: 'bot' } })
    expect(body.workflows[0].git_url).to.equal(`${service.url}/git/workflows/bot.git`)
    clone = await cloneOf(service, 'bot')
    expect(await clone.git('show', 'HEAD:data.json')).to.equal(
      '{\n  "parameters": {\n    "number": 1\n  }\n}',
    )
  })

  // interface 15.2
  it('a pushed commit is a revision when git push returns', async () => {
    clone.write('data.json', '{"parameters":\r\n\t{"number": 2, "big": 12345678901234567890}}')
    clone.write('README.md', '# About this prompt\n')
    const oid = await clone.commit('Edit by hand')
    await clone.git('push', '-q')
    const revision = await latest(service, 'bot')
    expect(revision).to.include({
      version: 2,
      slug: 'bot-2',
      message: 'Edit by hand',
      author: 'Ann <ann@example.com>',
    })
    expect(revision.id.replaceAll('-', '').startsWith(oid.slice(0, 12))).to.equal(true)
    const { text } = await service.get(`/workflows/revisions/${revision.id}`)
    expect(text).to.include('12345678901234567890')
  })

  it('says on the terminal which revision it has come to', async () => {
    await clone.commit('Once more')
    const { terminal } = await clone.try('push', '--progress')
    const { id } = await latest(service, 'bot')
    expect(terminal).to.include(`remote: bot-3 is revision ${id}`)
  })

  it('what REST commits is fetched, with the pushed README carried over', async () => {
    const { variant_id } = await latest(service, 'bot')
    await service.post('/workflows/revisions/commit', {
      workflow_revision_commit: { workflow_variant_id: variant_id, data: { parameters: { number: 4 } } },
    })
    await clone.git('pull', '-q', '--rebase')
    expect(await clone.git('rev-list', '--first-parent', '--count', 'HEAD')).to.equal('4')
    expect(await clone.git('show', 'HEAD:README.md')).to.equal('# About this prompt')
  })

  // interface 15.2
  it('a new branch is a fork, by the key that pushed it', async () => {
    await clone.git('switch', '-q', '-c', 'warmer', 'HEAD~2')
    await clone.git('push', '-q', '-u', 'origin', 'warmer')
    expect(await latest(service, 'warmer')).to.include({
      version: 2,
      variant_slug: 'warmer',
      message: 'Edit by hand',
    })
    clone.write('data.json', '{"parameters": {"warm": true}}')
    await clone.commit('Warmer')
    await clone.git('push', '-q')
    expect((await latest(service, 'warmer')).version).to.equal(3)
    const { body } = await service.post('/workflows/variants/query', { workflow_variant: { slug: 'warmer' } })
    expect(body.workflow_variants[0].created_by_id).to.match(/^[0-9a-f-]{36}$/)
    expect(Date.now() - Date.parse(body.workflow_variants[0].created_at)).to.be.within(-1000, 60_000)
    const { body: first } = await service.post('/workflows/revisions/retrieve', {
      workflow_ref: { slug: 'bot' },
    })
    expect(first.workflow_revision.variant_slug).to.equal('bot')
  })

  // interface 15.2
  it('tags, annotated or not, are revision slugs', async () => {
    await clone.git('tag', 'light')
    await clone.git('tag', '-a', '-m', 'Heavy', 'heavy')
    await clone.git('push', '-q', '--tags')
    const { id } = await latest(service, 'warmer')
    for (const slug of ['light', 'heavy']) {
      const { body } = await service.post('/workflows/revisions/retrieve', {
        workflow_revision_ref: { slug },
      })
      expect(body.workflow_revision.id).to.equal(id)
    }
  })

  it('several refs at once, of which a merge with ours as first parent', async () => {
    await clone.git('switch', '-q', 'bot')
    await clone.git('merge', '-q', '-s', 'ours', '-m', 'Take in', 'warmer')
    await clone.git('branch', 'third')
    await clone.git('tag', 'merged')
    await clone.git('push', '-q', '--atomic', 'origin', 'bot', 'third', 'merged')
    expect(await latest(service, 'bot')).to.include({ version: 5, message: 'Take in' })
    expect(await latest(service, 'third')).to.include({ version: 5 })
  })

  it('the first branch of an artifact without variants becomes its default one', async () => {
    await service.post('/workflows/', { workflow: { slug: 'empty' } })
    const empty = await cloneOf(service, 'empty')
    await empty.git('switch', '-q', '-c', 'main')
    empty.write('data.json', '{"parameters": {"from": "scratch"}}')
    await empty.commit('Begin')
    await empty.git('push', '-q', '-u', 'origin', 'main')
    const { body } = await service.post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'empty' } })
    expect(body.workflow_revision).to.include({ version: 1, variant_slug: 'main' })
    const head = (): string => git(service.repository('empty'), ['symbolic-ref', 'HEAD'])
    expect(head()).to.equal('refs/heads/main')
    await empty.git('push', '-q', 'origin', 'main:second')
    expect(head(), 'a branch that comes later is not').to.equal('refs/heads/main')
  })

  it('leaves repositories that git finds no fault with, and nothing else in them', async () => {
    for (const slug of ['bot', 'empty']) {
      const repository = service.repository(slug)
      expect(git(repository, ['fsck', '--strict'])).to.equal('')
      expect(git(repository, ['config', '--list', '--local']).split('\n').sort()).to.deep.equal([
        'core.bare=true',
        'core.filemode=true',
        'core.repositoryformatversion=0',
      ])
      // A roll-up may begin between two looks: what it is about to name is nobody's leftover.
      const counted = (): string => git(repository, ['count-objects', '-v'])
      for (let tries = 0; tries < 50 && !counted().includes('garbage: 0'); tries++) await pause(100)
      expect(counted()).to.include('garbage: 0')
    }
  })
})
