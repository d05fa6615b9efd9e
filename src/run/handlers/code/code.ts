import { getKey, isJsonObject, type Json } from '../../../base/json.ts'
import { invalidOutputs } from '../handler-failure.ts'
import type { HandlerContext, HandlerDefinition, HandlerRequest } from '../handler.ts'
import { filledText } from '../needed-text.ts'
import { readLooseThreshold } from '../scoring.ts'
import { runScript } from './run-script.ts'
import { scriptRuntime } from './script-runtime.ts'

/**
 * `svc:custom:code:v0` (interface 11.14): calls `evaluate(inputs, outputs, trace)` of the revision's script,
 * or of the parameter `code`, in the sandbox. An application answers its result. For an evaluator, the
 * parameter `version` defines verdicts: "3" accepts any result, anything else is "2", whose results are
 * scores.
 */
export const code: HandlerDefinition = {
  key: 'code',
  kind: 'custom',
  template: {
    name: 'Custom Code',
    description:
      'Runs a script of yours in a sandbox: a function evaluate(inputs, outputs, trace) in Python, JavaScript or TypeScript.',
    roles: 'both',
    categories: [],
  },
  run,
}

function run(request: HandlerRequest, context: HandlerContext): Promise<Json> {
  const { parameters, data, outputs, inputs, trace, judges } = request
  const script = filledText(getKey(data, 'script') || getKey(parameters, 'code'), 'script')
  const runtime = scriptRuntime(data, parameters)
  if (outputs !== undefined && outputs !== null && typeof outputs !== 'string' && !isJsonObject(outputs))
    throw invalidOutputs('dict or str', outputs)
  const version = String(getKey(parameters, 'version')) === '3' ? '3' : '2'
  const args = [inputs ?? {}, outputs ?? null, trace ?? null]
  const threshold = readLooseThreshold(getKey(parameters, 'threshold'))
  return runScript(
    { runtime, script, args, version, threshold, judges, failure: 'v0:workflows:code-error' },
    context,
  )
}
