import { expect } from 'chai'
import { readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { git } from '../support/git/git-program.ts'
import { startService } from '../support/servers/service.ts'

describe('a store that was copied without its empty folders', () => {
  it('takes commits where objects/pack is missing because every object was a loose one', async () => {
    const service = await startService()
    try {
      const { body } = await service.post('/simple/workflows/', {
        workflow: { slug: 'bot', data: { parameters: { n: 1 } } },
      })
      const repository = service.repository('bot')
      const packs = join(repository, 'objects', 'pack')
      const names = readdirSync(packs).filter((name) => name.endsWith('.pack'))
      const bytes = names.map((name) => readFileSync(join(packs, name)))
      rmSync(packs, { recursive: true })
      // git makes the folder, too, when it needs it next.
      for (const pack of bytes) git(repository, ['unpack-objects', '-q'], pack)
      const commit = await service.post('/workflows/revisions/commit', {
        workflow_revision: {
          workflow_variant_id: body.workflow.variant_id,
          message: 'Two',
          data: { parameters: { n: 2 } },
        },
      })
      expect(commit.status).to.equal(200)
      expect(git(repository, ['fsck', '--strict', '--no-dangling'])).to.equal('')
    } finally {
      await service.stop()
    }
  })
})
