import { ModelFailure } from '../../models/models.ts'
import { failureOfModel } from '../failure-of-model.ts'
import { HandlerFailure } from '../handler-failure.ts'
import type { HandlerContext } from '../handler.ts'

/** The default embedding model. */
export const USUAL_EMBEDDING_MODEL = 'text-embedding-3-small'

/**
 * The cosine similarity of two texts' embeddings; 0 if one is the zero vector. Throws `invalid-secrets`,
 * `unknown-connection` or `connection-model-mismatch` for a wrong credential, else
 * `semantic-similarity-error`.
 */
export async function scoreEmbeddings(
  model: string,
  texts: readonly [string, string],
  { models, untilGone, span }: HandlerContext,
): Promise<number> {
  const [a, b, ...others] = await embedded(() => models.embed({ model, texts, signal: untilGone() }, span))
  if (a === undefined || b === undefined || others.length > 0 || a.length !== b.length) {
    throw similarityError(`The model ${model} did not make one vector of each text, both of one length.`)
  }
  return cosine(a, b)
}

async function embedded(
  embed: () => Promise<readonly (readonly number[])[]>,
): Promise<readonly (readonly number[])[]> {
  try {
    return await embed()
  } catch (error) {
    throw error instanceof ModelFailure
      ? failureOfModel(error, 'v0:workflows:semantic-similarity-error')
      : error
  }
}

function cosine(a: readonly number[], b: readonly number[]): number {
  let [product, squaresOfA, squaresOfB] = [0, 0, 0]
  for (const [index, x] of a.entries()) {
    const y = b[index] ?? 0
    product += x * y
    squaresOfA += x * x
    squaresOfB += y * y
  }
  if (squaresOfA === 0 || squaresOfB === 0) return 0
  const score = product / Math.sqrt(squaresOfA * squaresOfB)
  if (!Number.isFinite(score)) throw similarityError('The vectors of the texts hold numbers without measure.')
  // rounding may exceed either bound
  return Math.max(-1, Math.min(1, score))
}

function similarityError(message: string): HandlerFailure {
  return new HandlerFailure('v0:workflows:semantic-similarity-error', message)
}
