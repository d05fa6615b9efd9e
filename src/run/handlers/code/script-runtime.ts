import { getKey, type JsonObject } from '../../../base/json.ts'
import type { SandboxJob } from '../../sandbox/sandbox.ts'
import { invalidParameter } from '../handler-failure.ts'

const RUNTIMES: readonly SandboxJob['runtime'][] = ['python', 'javascript', 'typescript']

/** The runtime in the revision's data, or else its parameters (interface 11.14); python by default. */
export function scriptRuntime(data: JsonObject, parameters: JsonObject): SandboxJob['runtime'] {
  const named = getKey(data, 'runtime') ?? getKey(parameters, 'runtime') ?? 'python'
  const runtime = RUNTIMES.find((it) => it === named)
  if (runtime === undefined) throw invalidParameter('runtime', RUNTIMES.join(' | '), named)
  return runtime
}
