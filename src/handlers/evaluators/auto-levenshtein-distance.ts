import { getKey, type Json } from '../../json/json.ts'
import type { HandlerContext, HandlerRequest } from '../handler.ts'
import { scoreLevenshtein } from '../metrics/score-levenshtein.ts'
import { readThreshold } from '../scoring/read-threshold.ts'
import { verdictOn } from '../scoring/verdict.ts'
import { scoredTexts } from '../scoring/scored-texts.ts'

/** `svc:builtin:auto_levenshtein_distance:v0` (contract/handlers 2.3): how few edits make the answer of the outputs. */
export async function autoLevenshteinDistance(
  request: HandlerRequest,
  context: HandlerContext,
): Promise<Json> {
  const [outputs, answer] = scoredTexts(request)
  const threshold = readThreshold(getKey(request.parameters, 'threshold'))
  const score = await scoreLevenshtein(outputs, answer, context)
  return verdictOn(score, threshold)
}
