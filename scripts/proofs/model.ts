import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { memoryFs } from '../../src/storage/memory-fs.ts'
import { arbitraryHistory } from './model/arbitrary/arbitrary-history.ts'
import { runHistory } from './model/run-history.ts'
import { proveOnDisk } from './model/prove-on-disk.ts'

const USAGE = `Holds the service against the model of its interface over random histories, longer than the tests do.

  npm run proof -- model [--runs N] [--seed S] [--steps N] [--servers N] [--disk] [--quick]

  --runs     histories (100)             --steps    requests in each, at most (80)
  --seed     of the first (the time)     --servers  that share the store of a history (1)
  --disk     on real folders, each repository checked with git
  --quick    report the first failing history as it is, not shrunk`

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    steps: { type: 'string', default: '80' },
    servers: { type: 'string', default: '1' },
    disk: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) {
  console.log(USAGE)
} else {
  const [runs, seed, steps, servers] = [values.runs, values.seed, values.steps, values.servers].map(Number)
  const started = Date.now()
  const counted = { requests: 0 }
  const result = await fc.check(
    fc.asyncProperty(arbitraryHistory(steps ?? 80), async (history) => {
      const proof = values.disk
        ? proveOnDisk(history, servers ?? 1)
        : runHistory(history, { fs: memoryFs(), storeDir: '/store', servers: servers ?? 1 })
      counted.requests += (await proof).requests
    }),
    { numRuns: runs ?? 100, seed: seed ?? 0, endOnFailure: values.quick },
  )
  const took = `${result.numRuns} histories, ${counted.requests} answers compared, ${Date.now() - started} ms`
  if (result.failed) {
    // What a failed property threw is ours: an Error with the whole story in its message.
    console.error(`${String(result.errorInstance)}\n\n${took}\nagain with --seed ${seed} --runs ${runs}`)
    process.exitCode = 1
  } else {
    console.log(`${took}, seed ${seed}: every answer was as the model says`)
  }
}
