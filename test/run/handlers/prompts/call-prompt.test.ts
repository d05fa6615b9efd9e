import { expect } from 'chai'
import { callPrompt, type PreparedPrompt } from '../../../../src/run/handlers/prompts/answer-prompt.ts'
import { ModelFailure } from '../../../../src/run/models/models.ts'
import { readPrompt } from '../../../../src/run/templates/prompt-object.ts'

describe('handlers: the calls of a prompt', () => {
  it('a wait ends when nobody waits for the outputs, and one more attempt says so', async () => {
    const written = readPrompt({ retry_policy: 'any' })
    const prompt: PreparedPrompt = {
      ...written,
      configs: [written.llmConfig],
      inputs: undefined,
      retries: { ...written.retries, baseDelayMs: 3_600_000 },
    }
    const controller = new AbortController()
    let attempts = 0
    const make = (): Promise<never> => {
      attempts++
      setTimeout(() => controller.abort(), 10)
      return Promise.reject(new ModelFailure('availability', 'x'))
    }
    const thrown: unknown = await callPrompt(prompt, [], { untilGone: () => controller.signal }, make).catch(
      (it: unknown) => it,
    )
    expect(thrown).to.be.instanceOf(ModelFailure)
    expect(attempts).to.equal(2)
  })
})
