import { join } from 'node:path'
import { expect } from 'chai'
import { expectSound } from '../../../support/git/expect-sound.ts'
import { startService } from '../../../support/servers/service.ts'
import { runCommand } from './run-command.ts'
import type { SmallStore } from './small-store.ts'
import { startSmallStore } from './small-store.ts'

describe('branchpoint backup: a store that is written to meanwhile', () => {
  let store: SmallStore
  const slugs = Array.from({ length: 8 }, (_, n) => `w${n}`)
  before(async () => {
    store = await startSmallStore()
    for (const slug of slugs) await store.workflow(slug)
  })
  after(() => store.stop())

  it('is whole in the backup: what environments run is there', async () => {
    const { service } = store
    const { body } = await service.post('/workflows/variants/query')
    let isOver = false
    const writer = async ({ id }: { readonly id: string }): Promise<void> => {
      for (let n = 0; !isOver; n++) {
        const fields = {
          workflow_variant_id: id,
          data: { parameters: { n } },
          deploy: ['staging', 'production'],
        }
        const { status, text } = await service.post('/workflows/revisions/commit', {
          workflow_revision_commit: fields,
        })
        expect(status, text).to.equal(200)
      }
    }
    const writers = body.workflow_variants.map(writer)
    for (let run = 0; run < 3; run++) expect((await store.backUp()).failures).to.deep.equal([])
    isOver = true
    await Promise.all(writers)
    const target = join(store.folder, 'target')
    const { failures } = await runCommand('restore', ['--from', store.backupDir, '--store', target])
    expect(failures).to.deep.equal([])
    const restored = await startService({ storeDir: target })
    try {
      for (const slug of slugs) {
        for (const environment of ['staging', 'production']) {
          const references = { environment_ref: { slug: environment }, workflow_ref: { slug } }
          const { status, text } = await restored.post('/workflows/revisions/retrieve', references)
          expect(status, text).to.equal(200)
        }
        expectSound(restored.repository(slug))
      }
    } finally {
      await restored.stop({ keepStore: true })
    }
  })
})
