import { getKey, isJsonObject, type JsonObject } from '../../json/json.ts'
import type { Handler } from '../handler.ts'
import { invalidOutputs, invalidParameter, missingParameter } from '../handler-failure.ts'
import { runScript } from './run-script.ts'
import { scriptRuntime } from './script-runtime.ts'
import { looseThreshold } from './threshold.ts'

/**
 * `svc:custom:code:v0` (contract/handlers 2.5): calls `evaluate(inputs, outputs, trace)` of the revision's script, or of the parameter `code`, in
 * the sandbox. Parameter `version`: "3" takes any result, everything else is "2", whose results are scores.
 */
export const customCode: Handler = (request, context) => {
  const { parameters, data, outputs, inputs, trace } = request
  const script = scriptOf(data, parameters)
  const runtime = scriptRuntime(data, parameters)
  if (outputs !== undefined && outputs !== null && typeof outputs !== 'string' && !isJsonObject(outputs))
    throw invalidOutputs('Union[str, Dict[str, Any]]', outputs)
  const version = String(getKey(parameters, 'version')) === '3' ? '3' : '2'
  const args = [inputs ?? {}, outputs ?? null, trace ?? null]
  const threshold = looseThreshold(parameters)
  return runScript({ runtime, script, args, version, threshold, failure: 'v0:workflows:code-error' }, context)
}

function scriptOf(data: JsonObject, parameters: JsonObject): string {
  const script = getKey(data, 'script') || getKey(parameters, 'code')
  if (script === undefined || script === null || script === '') throw missingParameter('script')
  if (typeof script !== 'string') throw invalidParameter('script', 'str', script)
  return script
}
