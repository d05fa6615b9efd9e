import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { post } from './call.ts'
import { startBranchpoint } from './child-server.ts'
import type { BenchSetting } from './figures.ts'
import { fillStore } from './fill-store.ts'
import { median } from './load.ts'

/** A store of many artifacts: how long until it is ready, how much memory it takes, and a query over all of it. */
export async function measureArtifacts({ folder, artifacts, add }: BenchSetting): Promise<void> {
  const storeDir = join(folder, 'many')
  await fillStore(storeDir, artifacts)
  const query = { application: { tags: { team: 'support' } }, windowing: { limit: 20 } }
  const starts = []
  let resident = 0
  const queries = []
  for (let round = 0; round < 3; round++) {
    const service = await startBranchpoint(storeDir)
    while (!(await fetch(`${service.url}/ready`)).ok) await wait(5)
    starts.push(service.startedIn)
    for (let number = 0; number < 20; number++) {
      const started = performance.now()
      await post(service, '/applications/query', query, z.unknown())
      queries.push(performance.now() - started)
    }
    resident = Math.max(resident, service.resident())
    await service.stop()
  }
  const start = median(starts) / 1000
  add(`${artifacts} artifacts: ready after`, `${start.toFixed(2)} s`, '≤ 5 s', start <= 5)
  const megabytes = resident / 1024 / 1024
  add(`${artifacts} artifacts: resident memory`, `${megabytes.toFixed(0)} MB`, '≤ 300 MB', megabytes <= 300)
  const worst = Math.max(...queries)
  add(
    `${artifacts} artifacts: tag-filtered query`,
    `${median(queries).toFixed(1)} ms (worst ${worst.toFixed(1)} ms)`,
    '≤ 20 ms',
    median(queries) <= 20,
  )
}
