import { z } from 'zod'
import type { Inspection } from '../../invocation/inspect.ts'
import { getKey, type JsonObject } from '../../json/json.ts'
import { presentRevision, type PresentOptions } from '../present.ts'
import { PROTOCOL_VERSION } from './trace-headers.ts'

/** What `/inspect` answers (contract/handlers 4.6). */
export const inspectOutput = z.strictObject({
  version: z.string(),
  revision: z.looseObject({ data: z.unknown().meta({ type: 'object' }) }),
  request: z.strictObject({
    data: z.strictObject({
      revision: z.unknown().meta({ type: 'object' }),
      inputs: z.unknown().meta({ type: 'object' }),
    }),
  }),
})

/** What can be invoked, and a request that invokes it. */
export function presentInspection({ data, stored }: Inspection, options: PresentOptions): object {
  const shown = withoutSecrets(data)
  const revision = stored ? presentRevision(stored, options, { data: shown }) : { data: shown }
  return { version: PROTOCOL_VERSION, revision, request: { data: { revision: { data: shown }, inputs: {} } } }
}

/** Scripts and headers are not needed to invoke, and of headers nobody should see more than has to. */
function withoutSecrets(data: JsonObject): JsonObject {
  const kept = ['uri', 'url', 'schemas', 'parameters', 'runtime'].flatMap((key) => {
    const value = getKey(data, key)
    return value === undefined ? [] : [[key, value] as const]
  })
  return Object.fromEntries(kept)
}
