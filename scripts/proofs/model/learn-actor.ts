import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { startService } from '../../../test/support/servers/service.ts'
import type { ModelState } from './state/model-state.ts'

let known: Promise<ModelState['actor']> | undefined

/** Who the admin key of a test service is, as records tell it; asked once, of a store of its own. */
export function learnActor(): Promise<ModelState['actor']> {
  known ??= ask()
  return known
}

async function ask(): Promise<ModelState['actor']> {
  const service = await startService({ fs: memoryFs(), storeDir: '/store' })
  try {
    const created = await service.post('/simple/workflows/', { workflow: { data: {} } })
    const revision = await service.get(`/workflows/revisions/${created.body.workflow.revision_id}`)
    const { author } = revision.body.workflow_revision
    if (!/^\S.* <\S+@\S+>$/.test(author)) throw new Error(`the author ${author} is not Name <email>`)
    return { id: created.body.workflow.created_by_id, author }
  } finally {
    await service.stop({ keepStore: true })
  }
}
