import { z } from 'zod'
import { Refusal, type RefusalCode } from '../../errors.ts'
import type { EndpointResponse, Endpoint } from './endpoint.ts'

/**
 * The endpoint as clients of the existing service know it, where nothing is found (interface 2.30): 200 with `count: 0`, and no record or an
 * empty list. Only where it reads, or archives, as that service has it: other writes, deploying and what environments do not hold are
 * 404 there, too. Unless `isExisting`, it stays as it is.
 */
export function asExistingService(endpoint: Endpoint, isExisting: boolean): Endpoint {
  if (!isExisting) return endpoint
  const { run, output, path, scope } = endpoint
  if (scope !== 'read' && !/\/(?:un)?archive$/.test(path)) return endpoint
  const list = listIn(output)
  const nothing = { count: 0, ...(list === undefined ? {} : { [list]: [] }) }
  return {
    ...endpoint,
    output: z.union([output, NOTHING]),
    run: async (call): Promise<EndpointResponse> => {
      try {
        return await run(call)
      } catch (error) {
        if (error instanceof Refusal && ABSENT.includes(error.code)) return { body: nothing }
        throw error
      }
    },
  }
}

const NOTHING = z
  .object({ count: z.literal(0) })
  .catchall(z.array(z.never()))
  .meta({ description: 'Nothing was found' })

const ABSENT: readonly RefusalCode[] = [
  'artifact_not_found',
  'variant_not_found',
  'revision_not_found',
  'testcase_not_found',
  'trace_not_found',
  'span_not_found',
  'template_not_found',
  'preset_not_found',
]

/** The name of the list that an endpoint answers; undefined if it answers one record. */
function listIn(output: z.ZodType): string | undefined {
  if (!(output instanceof z.ZodObject)) return undefined
  const shape: Readonly<Record<string, unknown>> = output.shape
  return Object.keys(shape).find((name) => shape[name] instanceof z.ZodArray)
}
