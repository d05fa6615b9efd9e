import { getKey, type Json, type JsonObject } from '../../../base/json.ts'
import { closedObject } from '../../../registry/workflows.ts'
import type { HandlerContext, HandlerDefinition, HandlerRequest } from '../handler.ts'
import { scoreSequence } from '../metrics/score-sequence.ts'
import { answerKey, isFalsy, readThreshold, scored, scoredTexts, verdictOn } from '../scoring.ts'

/**
 * `svc:builtin:auto_similarity_match:v0` (interface 11.3): how much of outputs and answer are common blocks.
 */
export const autoSimilarityMatch: HandlerDefinition = {
  key: 'auto_similarity_match',
  kind: 'builtin',
  schemas: {
    parameters: closedObject(
      {
        similarity_threshold: {
          type: 'number',
          minimum: 0,
          maximum: 1,
          default: 0.5,
          'x-svc-type': 'float',
          title: 'Lowest score that passes',
          description: 'From 0 to 1, such as 0.8: outputs with at least this score pass.',
        },
        correct_answer_key: answerKey,
      },
      ['similarity_threshold'],
    ),
    outputs: scored,
  },
  template: {
    name: 'Similarity Match',
    description:
      'Scores by how much of the output and the expected answer is the same text in the same order.',
    roles: 'evaluator',
    categories: ['similarity'],
  },
  example: {
    parameters: { similarity_threshold: 0.5 },
    inputs: { correct_answer: 'in Paris' },
    outputs: 'Paris',
  },
  run,
}

async function run(request: HandlerRequest, context: HandlerContext): Promise<Json> {
  const [outputs, answer] = scoredTexts(request)
  const threshold = readThreshold(givenThreshold(request.parameters))
  const score = await scoreSequence(outputs, answer, context)
  return verdictOn(score, threshold)
}

function givenThreshold(parameters: JsonObject): Json | undefined {
  const threshold = getKey(parameters, 'threshold')
  return isFalsy(threshold) ? getKey(parameters, 'similarity_threshold') : threshold
}
