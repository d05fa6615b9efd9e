import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { post } from '../call.ts'
import { startBranchpoint } from '../../../test/support/servers/child-server.ts'
import type { BenchSetting } from '../bench-setting.ts'
import { lengthen, promptData } from '../fill-store.ts'
import { plainFigure } from '../figures/plain-figure.ts'

/** The latest of 10,000 revisions from a cold server, with the derived depths beside the repository and without. */
export async function measureHistory({ folder, rounds, add }: BenchSetting): Promise<void> {
  const storeDir = join(folder, 'long')
  const first = await startBranchpoint(storeDir)
  const create = { application: { slug: 'bot', data: promptData(1) } }
  await post(first, '/simple/applications', create, z.unknown())
  await first.stop()
  const repository = join(storeDir, 'default', 'workflows', 'bot.git')
  lengthen(repository, 'bot', 10_000)
  const retrieve = { application_variant_ref: { slug: 'bot' } }
  const coldRetrieve = async (): Promise<number> => {
    const service = await startBranchpoint(storeDir)
    // Another artifact's request warms the way through the code; the history is as cold as it was.
    await post(service, '/applications/query', {}, z.unknown())
    const started = performance.now()
    await post(service, '/applications/revisions/retrieve', retrieve, theLatest)
    const took = performance.now() - started
    await service.stop()
    return took
  }
  const without: number[] = []
  const kept: number[] = []
  for (let round = 0; round < rounds; round++) {
    rmSync(join(repository, 'first-parents'), { force: true })
    without.push(await coldRetrieve())
    kept.push(await coldRetrieve())
  }
  add(
    plainFigure({
      work: 'latest of 10,000 revisions, cold server',
      rounds: kept,
      unit: 'ms',
      goal: { is: '≤', value: 20 },
    }),
  )
  add(
    plainFigure({
      work: 'latest of 10,000 revisions, cold server, derived depths deleted',
      rounds: without,
      unit: 'ms',
      goal: { is: '≤', value: 200 },
    }),
  )
}

const theLatest = z.object({ application_revision: z.object({ version: z.literal(10_000) }) })
