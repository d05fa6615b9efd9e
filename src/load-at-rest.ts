import { atRest } from './at-rest.ts'

/**
 * Loads what no start needs and some requests do: for when a server is ready, so that hardly any request waits for it. Most of all because
 * node never tries again to read a module that it could not read once: what was first asked for while too many files were open would be
 * missing until the next start.
 */
export async function loadAtRest(): Promise<void> {
  await atRest(LATER, new AbortController().signal, (load) => load())
}

const LATER: readonly (() => Promise<unknown>)[] = [
  // from then on garbage collection and the lag of the event loop are counted
  async () => (await import('./process-metrics.ts')).processMetrics(),
  () => import('./all-metrics.ts'),
  () => import('./open-runner.ts'),
  () => import('./http/git/git-door.ts'),
  () => import('./http/git/restore-door.ts'),
  () => import('./http/body-inflater.ts'),
  () => import('@fastify/busboy'),
  () => import('./resources/testsets/files/csv-rows.ts'),
  () => import('./git/config-value.ts'),
  () => import('ajv/dist/2020.js'),
  () => import('ajv-formats'),
  () => import('json-p3'),
]
