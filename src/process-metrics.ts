import { collectDefaultMetrics, Registry } from 'prom-client'

let registry: Registry | undefined

/**
 * Processor time, memory, file handles, garbage collection and event-loop lag under the names that prom-client gives them, which
 * dashboards for node know. One for the process, however many services it has: the lag is measured by a timer that goes on.
 */
export function processMetrics(): Registry {
  if (!registry) {
    registry = new Registry()
    collectDefaultMetrics({ register: registry })
  }
  return registry
}
