import { getKey, type Json, type JsonObject } from '../../../base/json.ts'
import { closedObject } from '../../../registry/workflows.ts'
import { invalidParameters } from '../handler-failure.ts'
import type { HandlerContext, HandlerDefinition, HandlerRequest } from '../handler.ts'
import { scoreEmbeddings, USUAL_EMBEDDING_MODEL } from '../metrics/score-embeddings.ts'
import {
  answerKey,
  expectedText,
  neededOutputs,
  readThreshold,
  scored,
  textOf,
  verdictOn,
} from '../scoring.ts'

/**
 * `svc:builtin:auto_semantic_similarity:v0` (interface 11.3): the similarity of outputs and answer by the
 * embedding model in `embedding_model`.
 */
export const autoSemanticSimilarity: HandlerDefinition = {
  key: 'auto_semantic_similarity',
  kind: 'builtin',
  schemas: {
    parameters: closedObject({ correct_answer_key: answerKey }, ['correct_answer_key']),
    outputs: scored,
  },
  template: {
    name: 'Semantic Similarity Match',
    description: 'Scores by how close output and expected answer are in meaning, by their embeddings.',
    roles: 'evaluator',
    categories: ['similarity'],
    callsModels: true,
  },
  run,
}

async function run(request: HandlerRequest, context: HandlerContext): Promise<Json> {
  const model = embeddingModel(request.parameters)
  const { value: answer } = expectedText(request)
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
