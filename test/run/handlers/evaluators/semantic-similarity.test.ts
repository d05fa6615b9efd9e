import { expect } from 'chai'
import type { FailureId } from '../../../../src/run/handlers/handler-failure.ts'
import { ModelFailure, type EmbeddingCall, type ModelFailureKind } from '../../../../src/run/models/models.ts'
import { failureOf, runEvaluator, type Given } from './run-evaluator.ts'

const KEY = 'auto_semantic_similarity'
const GIVEN: Given = { outputs: 'hot', inputs: { correct_answer: 'warm' } }

describe('handlers: auto_semantic_similarity', () => {
  const vectors =
    (...both: readonly (readonly number[])[]) =>
    async () =>
      both

  it('scores the cosine of what the model makes of both texts', async () => {
    const calls: EmbeddingCall[] = []
    const embed = async (call: EmbeddingCall) => {
      calls.push(call)
      return [
        [3, 4],
        [4, 3],
      ]
    }
    const given = { outputs: { b: 1, a: 'x' }, inputs: { k: 'warm' } }
    expect(
      await runEvaluator(KEY, { ...given, parameters: { correct_answer_key: 'k' } }, embed),
    ).to.deep.equal({ score: 24 / 25, success: true })
    const parameters = { correct_answer_key: 'k', embedding_model: 'gemini/embedding', threshold: 0.97 }
    expect(await runEvaluator(KEY, { ...given, parameters }, embed)).to.deep.equal({
      score: 24 / 25,
      success: false,
    })
    expect(calls.map(({ model, texts }) => ({ model, texts }))).to.deep.equal([
      { model: 'text-embedding-3-small', texts: ['{"a":"x","b":1}', 'warm'] },
      { model: 'gemini/embedding', texts: ['{"a":"x","b":1}', 'warm'] },
    ])
  })

  const cosines: readonly [a: readonly number[], b: readonly number[], score: number][] = [
    [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], 1],
    [[1, 0], [0, 1], 0],
    [[1, 0], [-1, 0], -1],
    [[0, 0], [1, 0], 0],
    [[0, 0], [0, 0], 0],
    [[], [], 0],
  ]
  for (const [a, b, score] of cosines) {
    it(`${JSON.stringify(a)} and ${JSON.stringify(b)} score ${score}`, async () => {
      expect(await runEvaluator(KEY, GIVEN, vectors(a, b))).to.deep.equal({ score, success: score >= 0.5 })
    })
  }

  const kinds: readonly [ModelFailureKind, FailureId][] = [
    ['credential', 'v0:schemas:invalid-secrets'],
    ['connection', 'v0:schemas:unknown-connection'],
    ['mismatch', 'v0:schemas:connection-model-mismatch'],
    ['availability', 'v0:workflows:semantic-similarity-error'],
    ['capacity', 'v0:workflows:semantic-similarity-error'],
    ['access', 'v0:workflows:semantic-similarity-error'],
    ['answer', 'v0:workflows:semantic-similarity-error'],
  ]
  for (const [kind, id] of kinds) {
    it(`a model's failure of kind ${kind} is ${id}`, async () => {
      const embed = () => Promise.reject(new ModelFailure(kind, 'in plain words'))
      expect(await failureOf(KEY, GIVEN, embed)).to.deep.equal({ id, message: 'in plain words' })
    })
  }

  const nonsense: readonly (readonly (readonly number[])[])[] = [
    [],
    [[1]],
    [[1], [1, 2]],
    [[1], [1], [1]],
    [[1e300], [1e300]],
  ]
  for (const answer of nonsense) {
    it(`${JSON.stringify(answer)} for vectors is the model's failure`, async () => {
      const { id } = await failureOf(KEY, GIVEN, vectors(...answer))
      expect(id).to.equal('v0:workflows:semantic-similarity-error')
    })
  }

  it('checks all it is given, in order, before it asks the model', async () => {
    const never = (): never => {
      throw new Error('asked')
    }
    const wrong: Given = { parameters: { embedding_model: 5, threshold: 'x' } }
    expect((await failureOf(KEY, wrong, never)).id).to.equal('v0:schemas:invalid-parameters')
    const steps: readonly [Given, string][] = [
      [{}, 'v0:schemas:invalid-inputs'],
      [{ inputs: {} }, 'v0:schemas:missing-input'],
      [{ inputs: { correct_answer: 5 } }, 'v0:schemas:invalid-input'],
      [{ inputs: { correct_answer: 'x' }, outputs: [] }, 'v0:schemas:invalid-outputs'],
      [{ inputs: { correct_answer: 'x' }, outputs: 'x' }, 'v0:schemas:invalid-parameter'],
    ]
    for (const [given, id] of steps) {
      expect((await failureOf(KEY, { parameters: { threshold: 'x' }, ...given }, never)).id).to.equal(id)
    }
  })
})
