import { Registry } from 'prom-client'
import { processMetrics } from './process-metrics.ts'
import { type MetricSources, serviceMetrics } from './service-metrics.ts'

/** What a service tells of itself and of its process, in one registry. */
export function allMetrics(sources: MetricSources): Registry {
  return Registry.merge([serviceMetrics(sources), processMetrics()])
}
