import { getKey, isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import type { Handler, HandlerRequest } from '../handler.ts'
import {
  invalidInputs,
  invalidOutputs,
  invalidParameter,
  missingInput,
  missingParameter,
} from '../handler-failure.ts'
import type { ResultVersion } from './normalise-result.ts'
import { runScript } from './run-script.ts'
import { scriptRuntime } from './script-runtime.ts'
import { strictThreshold } from './threshold.ts'

/**
 * `svc:builtin:auto_custom_code_run:v0` (contract/handlers 2.6): calls `evaluate` of the parameter `code` in the sandbox. Parameter `version`: "2" and
 * "3" call it with inputs, outputs and trace; everything else is "1", which calls it with `{}`, inputs, outputs and the correct answer.
 */
export const autoCustomCodeRun: Handler = (request, context) => {
  const { parameters, data } = request
  const script = codeOf(parameters)
  const outputs = outputsOf(request)
  const threshold = strictThreshold(parameters)
  const runtime = scriptRuntime(data, parameters)
  const version = versionOf(parameters)
  const args: readonly Json[] =
    version === '1'
      ? [{}, request.inputs ?? {}, outputs, answerIn(request)]
      : [request.inputs ?? {}, outputs, request.trace ?? null]
  return runScript(
    { runtime, script, args, version, threshold, failure: 'v0:workflows:custom-code-server-error' },
    context,
  )
}

function codeOf(parameters: JsonObject): string {
  const code = getKey(parameters, 'code')
  if (code === undefined || code === null || code === '') throw missingParameter('code')
  if (typeof code !== 'string') throw invalidParameter('code', 'str', code)
  return code
}

function outputsOf({ outputs }: HandlerRequest): Json {
  if (typeof outputs === 'string' || isJsonObject(outputs)) return outputs
  throw invalidOutputs('Union[str, Dict[str, Any]]', outputs)
}

function versionOf(parameters: JsonObject): ResultVersion {
  const version = String(getKey(parameters, 'version'))
  return version === '2' || version === '3' ? version : '1'
}

function answerIn({ inputs, parameters }: HandlerRequest): Json {
  if (!inputs) throw invalidInputs('dict', inputs)
  const named = getKey(parameters, 'correct_answer_key') || 'correct_answer'
  if (typeof named !== 'string') throw invalidParameter('correct_answer_key', 'str', named)
  const answer = getKey(inputs, named)
  if (answer === undefined) throw missingInput(named)
  return answer
}
