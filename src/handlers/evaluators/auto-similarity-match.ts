import { getKey, type Json, type JsonObject } from '../../json/json.ts'
import type { HandlerContext, HandlerRequest } from '../handler.ts'
import { scoreSequence } from '../metrics/score-sequence.ts'
import { isFalsy } from '../scoring/is-falsy.ts'
import { readThreshold } from '../scoring/read-threshold.ts'
import { verdictOn } from '../scoring/verdict.ts'
import { scoredTexts } from '../scoring/scored-texts.ts'

/** `svc:builtin:auto_similarity_match:v0` (contract/handlers 2.3): how much of outputs and answer are blocks that both have. */
export async function autoSimilarityMatch(request: HandlerRequest, context: HandlerContext): Promise<Json> {
  const [outputs, answer] = scoredTexts(request)
  const threshold = readThreshold(givenThreshold(request.parameters))
  const score = await scoreSequence(outputs, answer, context)
  return verdictOn(score, threshold)
}

function givenThreshold(parameters: JsonObject): Json | undefined {
  const threshold = getKey(parameters, 'threshold')
  return isFalsy(threshold) ? getKey(parameters, 'similarity_threshold') : threshold
}
