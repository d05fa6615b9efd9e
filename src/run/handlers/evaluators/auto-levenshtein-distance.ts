import { getKey, type Json } from '../../../base/json.ts'
import { closedObject } from '../../../registry/workflows.ts'
import type { HandlerContext, HandlerDefinition, HandlerRequest } from '../handler.ts'
import { scoreLevenshtein } from '../metrics/score-levenshtein.ts'
import { advanced, answerKey, readThreshold, scored, scoredTexts, verdictOn } from '../scoring.ts'

/**
 * `svc:builtin:auto_levenshtein_distance:v0` (interface 11.3): scores by how few edits turn the outputs into
 * the answer.
 */
export const autoLevenshteinDistance: HandlerDefinition = {
  key: 'auto_levenshtein_distance',
  kind: 'builtin',
  schemas: {
    parameters: closedObject({
      threshold: {
        type: 'number',
        'x-svc-type': 'float',
        title: 'Lowest score that passes',
        description:
          'From 0 to 1, such as 0.8: outputs with at least this score pass; 0.5 if nothing is set.',
      },
      correct_answer_key: advanced(answerKey),
    }),
    outputs: scored,
  },
  template: {
    name: 'Levenshtein Distance',
    description:
      'Scores by how few characters have to be changed to turn the output into the expected answer.',
    roles: 'evaluator',
    categories: ['similarity'],
  },
  example: { parameters: { threshold: 0.8 }, inputs: { correct_answer: 'Paris' }, outputs: 'Parys' },
  run,
}

async function run(request: HandlerRequest, context: HandlerContext): Promise<Json> {
  const [outputs, answer] = scoredTexts(request)
  const threshold = readThreshold(getKey(request.parameters, 'threshold'))
  const score = await scoreLevenshtein(outputs, answer, context)
  return verdictOn(score, threshold)
}
