import { getKey, type Json, type JsonObject } from '../../json/json.ts'
import { closedObject } from '../../resources/workflows/schemas/object-schema.ts'
import type { HandlerContext, HandlerDefinition, HandlerRequest } from '../handler.ts'
import { filledText } from '../needed-text.ts'
import { expectedOutput } from '../scoring/needed-answer.ts'
import { neededOutputs } from '../scoring/needed-outputs.ts'
import { readThreshold } from '../scoring/read-threshold.ts'
import { codePresets, exactMatchInPython } from './code-presets.ts'
import type { ResultVersion } from './normalise-result.ts'
import { runScript } from './run-script.ts'
import { scriptRuntime } from './script-runtime.ts'

/**
 * `svc:builtin:auto_custom_code_run:v0` (interface 11.14): calls `evaluate` of the parameter `code` in the sandbox. Parameter
 * `version`: "2" and "3" call it with inputs, outputs and trace; everything else is "1", which calls it with `{}`, inputs, outputs and
 * the correct answer.
 */
export const autoCustomCodeRun: HandlerDefinition = {
  key: 'auto_custom_code_run',
  kind: 'builtin',
  schemas: {
    parameters: closedObject(
      {
        code: { type: 'string', default: exactMatchInPython, 'x-svc-type': 'code', title: 'Source' },
        runtime: {
          type: 'string',
          enum: ['python', 'javascript', 'typescript'],
          default: 'python',
          'x-svc-type': 'choice',
          title: 'Language',
        },
        version: { type: 'string', default: '3', 'x-svc-type': 'hidden' },
        correct_answer_key: {
          type: 'string',
          'x-svc-type': 'text',
          'x-svc-ui-advanced': true,
          title: 'Input that holds the expected answer',
          description:
            'Only source of version 1 is given the answer by itself; later ones find it in the inputs.',
        },
      },
      ['code'],
    ),
  },
  template: {
    name: 'Code Evaluation',
    description:
      'Scores the output by source of yours in Python, JavaScript or TypeScript, run in a sandbox.',
    roles: 'evaluator',
    categories: ['custom'],
  },
  presets: codePresets,
  run,
}

function run(request: HandlerRequest, context: HandlerContext): Promise<Json> {
  const { parameters, data, inputs = {}, trace = null } = request
  const script = filledText(getKey(parameters, 'code'), 'code')
  const outputs = neededOutputs(request)
  const threshold = readThreshold(getKey(parameters, 'threshold'))
  const runtime = scriptRuntime(data, parameters)
  const version = versionOf(parameters)
  const args: readonly Json[] =
    version === '1' ? [{}, inputs, outputs, expectedOutput(request).value] : [inputs, outputs, trace]
  return runScript(
    {
      ...{ runtime, script, args, version, threshold, judges: true },
      failure: 'v0:workflows:custom-code-server-error',
    },
    context,
  )
}

function versionOf(parameters: JsonObject): ResultVersion {
  const version = String(getKey(parameters, 'version'))
  return version === '2' || version === '3' ? version : '1'
}
