import { expect } from 'chai'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { git } from '../../support/git/git-program.ts'
import type { RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import { cloneOf, latest, workflow } from '../../support/git/git-client.ts'

describe('git: a large push', () => {
  let service: RunningService
  before(async () => (service = await startService()))
  after(() => service.stop())

  it('comes in as one pack, while commits over REST go on', async () => {
    const variant = await workflow(service, 'large')
    const clone = await cloneOf(service, 'large')
    await clone.git('switch', '-q', '-c', 'notes')
    mkdirSync(join(clone.folder, 'notes'))
    for (let number = 0; number < 400; number++)
      writeFileSync(join(clone.folder, `notes/${number}.md`), `${number}\n`)
    await clone.commit('Four hundred notes')
    const commit = (number: number) =>
      service.post('/workflows/revisions/commit', {
        workflow_revision_commit: { workflow_variant_id: variant, data: { parameters: { number } } },
      })
    const [, ...replies] = await Promise.all([
      clone.git('push', '-q', 'origin', 'notes'),
      ...[2, 3, 4, 5].map(commit),
    ])
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200])
    const { id, variant_id } = await latest(service, 'notes')
    const { body } = await service.post('/workflows/revisions/commit', {
      workflow_revision_commit: { workflow_variant_id: variant_id, data: { parameters: { onTop: true } } },
    })
    expect(body.workflow_revision.version).to.equal(3)
    expect(id).to.not.equal(body.workflow_revision.id)
    const repository = service.repository('large')
    expect(git(repository, ['ls-tree', '--name-only', 'notes:notes']).split('\n')).to.have.length(400)
    expect(git(repository, ['fsck', '--strict'])).to.equal('')
    expect(git(repository, ['count-objects', '-v'])).to.match(/garbage: 0/)
  })

  it('a thin pack is completed, so that the repository needs nothing else', async () => {
    await workflow(service, 'thin')
    const clone = await cloneOf(service, 'thin')
    const text = Array.from({ length: 3000 }, (_, line) => `line ${line} of a long text`)
    clone.write('text.md', text.join('\n'))
    await clone.commit('Long')
    await clone.git('push', '-q')
    clone.write('text.md', [...text, 'and one more'].join('\n'))
    await clone.commit('Longer')
    await clone.git('push', '-q', '--thin')
    expect(git(service.repository('thin'), ['fsck', '--strict'])).to.equal('')
    expect(git(service.repository('thin'), ['show', 'thin:text.md'])).to.match(/and one more$/)
  })
})
