import { expect } from 'chai'
import { git } from '../../support/git/git-program.ts'
import type { RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import { cloneOf, latest, workflow } from '../../support/git/git-client.ts'

describe('git: pushes to an environment', () => {
  let service: RunningService
  before(async () => (service = await startService()))
  after(() => service.stop())

  // interface 9.11
  it('deploy, and move the mirror in the deployed artifact before git push returns', async () => {
    const variant = await workflow(service, 'bot')
    await service.post('/workflows/revisions/commit', {
      workflow_revision_commit: { workflow_variant_id: variant, data: { parameters: { number: 2 } } },
    })
    await service.post('/workflows/revisions/deploy', {
      workflow_revision_ref: { slug: 'bot', version: 1 },
      environment_ref: { slug: 'production' },
    })
    const { id, workflow_id } = await latest(service, 'bot')
    const clone = await cloneOf(service, 'production', { family: 'environments' })
    const references = JSON.parse(await clone.git('show', 'HEAD:references.json'))
    references['bot.revision'] = { workflow: { id: workflow_id }, workflow_revision: { id } }
    clone.write('references.json', `${JSON.stringify(references)}\n`)
    await clone.commit('Deploy the newest')
    await clone.git('push', '-q')
    const repository = service.repository('bot')
    expect(git(repository, ['rev-parse', 'refs/environments/production'])).to.equal(
      git(repository, ['rev-parse', 'bot']),
    )
    const { body } = await service.post('/workflows/revisions/retrieve', {
      environment_ref: { slug: 'production' },
      workflow_ref: { slug: 'bot' },
    })
    expect(body.workflow_revision.version).to.equal(2)
  })

  it('are refused where a map of pins could not be committed', async () => {
    const clone = await cloneOf(service, 'production', { family: 'environments' })
    clone.write('references.json', '{"bot.revision": {"colour": 1}}')
    await clone.commit('Nonsense')
    expect((await clone.try('push')).terminal).to.match(
      /remote: Commit .* does not decode as a environment revision: references\.json/,
    )
  })
})
