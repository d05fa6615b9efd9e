import { z } from 'zod'
import type { Inspection } from '../../run/invocation.ts'
import { entriesOf, fromEntries, type JsonObject } from '../../base/json.ts'
import { presentWorkflow } from '../../registry/workflows.ts'
import { presentRevision, type PresentOptions } from '../revisions/record.ts'
import { warning } from '../schemas/record-schemas.ts'
import { PROTOCOL_VERSION } from './trace-headers.ts'

/** The answer of `/inspect` (interface 12.6). */
export const inspectOutput = z.strictObject({
  version: z.string(),
  revision: z.looseObject({ data: z.unknown().meta({ type: 'object' }) }),
  request: z.strictObject({
    data: z.strictObject({
      revision: z.unknown().meta({ type: 'object' }),
      inputs: z.unknown().meta({ type: 'object' }),
    }),
  }),
  warnings: z.array(warning).optional(),
})

/** A workflow that can be invoked, and a request that invokes it. */
export function presentInspection({ data, stored, warnings }: Inspection, options: PresentOptions): object {
  const { servicesBase } = options
  const whole = stored ? presentWorkflow(data, { servicesBase, revisionId: stored.id }) : data
  const shown = { data: invocationPart(whole) }
  return {
    version: PROTOCOL_VERSION,
    revision: stored ? presentRevision(stored, options, shown) : shown,
    request: { data: { revision: shown, inputs: {} } },
    ...(warnings.length > 0 && { warnings }),
  }
}

/** Leaves out scripts and headers: invoking does not need them, and headers may be sensitive. */
function invocationPart(data: JsonObject): JsonObject {
  return fromEntries(entriesOf(data).filter(([key]) => SHOWN.has(key)))
}

const SHOWN: ReadonlySet<string> = new Set(['uri', 'url', 'schemas', 'parameters', 'runtime'])
