import { getKey, type Json, type JsonObject } from '../../json/json.ts'
import { invalidParameters } from '../handler-failure.ts'
import type { HandlerContext, HandlerRequest } from '../handler.ts'
import { scoreEmbeddings, USUAL_EMBEDDING_MODEL } from '../metrics/score-embeddings.ts'
import { expectedDocument } from '../scoring/needed-answer.ts'
import { neededOutputs } from '../scoring/needed-outputs.ts'
import { readThreshold } from '../scoring/read-threshold.ts'
import { textOf } from '../scoring/text-of.ts'
import { verdictOn } from '../scoring/verdict.ts'

/**
 * `svc:builtin:auto_semantic_similarity:v0` (contract/handlers 2.3): how alike outputs and answer are to an embedding model, which
 * `embedding_model` names.
 */
export async function autoSemanticSimilarity(
  request: HandlerRequest,
  context: HandlerContext,
): Promise<Json> {
  const model = embeddingModel(request.parameters)
  const { value: answer } = expectedDocument(request)
  const outputs = neededOutputs(request)
  const threshold = readThreshold(getKey(request.parameters, 'threshold'))
  const score = await scoreEmbeddings(model, [textOf(outputs), textOf(answer)], context)
  return verdictOn(score, threshold)
}

function embeddingModel(parameters: JsonObject): string {
  const model = getKey(parameters, 'embedding_model') ?? USUAL_EMBEDDING_MODEL
  if (typeof model !== 'string') throw invalidParameters('str', model)
  return model
}
