import { getKey, type JsonObject } from '../../json/json.ts'
import type { SandboxJob } from '../../sandbox/sandbox.ts'
import { invalidParameter } from '../handler-failure.ts'

const RUNTIMES: readonly SandboxJob['runtime'][] = ['python', 'javascript', 'typescript']

/** The runtime that the revision's data names, or else its parameters (interface 11.14); python where neither does. */
export function scriptRuntime(data: JsonObject, parameters: JsonObject): SandboxJob['runtime'] {
  const named = getKey(data, 'runtime') ?? getKey(parameters, 'runtime') ?? 'python'
  const runtime = RUNTIMES.find((it) => it === named)
  if (runtime === undefined) throw invalidParameter('runtime', RUNTIMES.join(' | '), named)
  return runtime
}
