import { getKey, type Json, type JsonObject } from '../../../base/json.ts'
import { closedObject } from '../../../registry/workflows.ts'
import type { HandlerContext, HandlerDefinition, HandlerRequest } from '../handler.ts'
import { filledText } from '../needed-text.ts'
import { expectedOutput, neededOutputs, readThreshold } from '../scoring.ts'
import type { ResultVersion } from './normalise-result.ts'
import { runScript } from './run-script.ts'
import { scriptRuntime } from './script-runtime.ts'
import type { CatalogPreset } from '../../catalog/catalog-template.ts'

/** The initial source of a code evaluator: an exact match. */
const exactMatchInPython = `def evaluate(inputs, outputs, trace):
    matches = outputs == inputs.get("correct_answer")
    return {"score": 1.0 if matches else 0.0, "success": matches}
`

const javascript = `function evaluate(inputs, outputs, trace) {
  const textOf = (value) => (typeof value === "string" ? value : JSON.stringify(value))
  const matches = textOf(outputs) === textOf(inputs.correct_answer)
  return { score: matches ? 1.0 : 0.0, success: matches }
}
`

const typescript = `type Verdict = { score: number; success: boolean }

function evaluate(inputs: Record<string, unknown>, outputs: unknown, trace: unknown): Verdict {
  const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))
  const matches = textOf(outputs) === textOf(inputs.correct_answer)
  return { score: matches ? 1.0 : 0.0, success: matches }
}
`

/** An exact match in each language, as a starting point. */
const codePresets: readonly CatalogPreset[] = [
  exactMatch('python', 'Python', exactMatchInPython),
  exactMatch('javascript', 'JavaScript', javascript),
  exactMatch('typescript', 'TypeScript', typescript),
]

function exactMatch(runtime: string, language: string, code: string): CatalogPreset {
  return {
    key: `${runtime}_default`,
    name: `Exact Match (${language})`,
    description: `Compares the output with the expected answer, in ${language}.`,
    categories: ['custom'],
    parameters: { runtime, correct_answer_key: 'correct_answer', version: '3', code },
  }
}

/**
 * `svc:builtin:auto_custom_code_run:v0` (interface 11.14): calls `evaluate` of the parameter `code` in the
 * sandbox. Parameter `version`: "2" and "3" call it with inputs, outputs and trace; anything else is "1",
 * which calls it with `{}`, inputs, outputs and the correct answer.
 */
export const autoCustomCodeRun: HandlerDefinition = {
  key: 'auto_custom_code_run',
  kind: 'builtin',
  schemas: {
    parameters: closedObject(
      {
        code: {
          type: 'string',
          default: exactMatchInPython,
          'x-svc-type': 'code',
          title: 'Source',
          description:
            'Defines evaluate(inputs, outputs, trace), which returns a score, true or false, or an object with both.',
        },
        runtime: {
          type: 'string',
          enum: ['python', 'javascript', 'typescript'],
          default: 'python',
          'x-svc-type': 'choice',
          title: 'Language',
          description: 'The language of the source.',
        },
        version: {
          type: 'string',
          default: '3',
          'x-svc-type': 'hidden',
          title: 'Version of the call',
          description:
            'What evaluate is given and may return: versions 2 and 3 give it inputs, outputs and trace.',
        },
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
