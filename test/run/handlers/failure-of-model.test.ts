import { expect } from 'chai'
import { failureOfModel } from '../../../src/run/handlers/failure-of-model.ts'
import { ModelFailure } from '../../../src/run/models/models.ts'

describe('handlers: a model that fails', () => {
  it('says which key or connection to set under an id of its own', () => {
    const credential = failureOfModel(
      new ModelFailure('credential', "No API key found for model 'gpt-4o': set OPENAI_API_KEY."),
    )
    expect(credential).to.include({ id: 'v0:schemas:invalid-secrets', status: 424 })
    expect(credential.message).to.equal("No API key found for model 'gpt-4o': set OPENAI_API_KEY.")
    expect(failureOfModel(new ModelFailure('connection', 'x'))).to.include({
      id: 'v0:schemas:unknown-connection',
      status: 400,
    })
    expect(failureOfModel(new ModelFailure('mismatch', 'x'))).to.include({
      id: 'v0:schemas:connection-model-mismatch',
      status: 400,
    })
  })

  it('answers 424 with the status of the provider for everything else', () => {
    const busy = failureOfModel(new ModelFailure('capacity', 'Slow down.', 429))
    expect(busy).to.include({ id: 'v0:workflows:prompt-completion-error', status: 424 })
    expect(busy.message).to.equal('Slow down.\nThe provider answered with status 429 (too many requests).')
    expect(failureOfModel(new ModelFailure('request', 'No.', 418)).message).to.equal(
      'No.\nThe provider answered with status 418.',
    )
    for (const kind of ['availability', 'transient', 'access', 'context', 'answer'] as const) {
      expect(failureOfModel(new ModelFailure(kind, 'No answer.'))).to.include({
        id: 'v0:workflows:prompt-completion-error',
        message: 'No answer.',
      })
    }
  })

  it('is what whoever asked the model calls it', () => {
    const embedding = 'v0:workflows:semantic-similarity-error'
    const busy = failureOfModel(new ModelFailure('capacity', 'Slow down.', 429), embedding)
    expect(busy).to.include({ id: embedding, status: 424 })
    expect(busy.message).to.equal('Slow down.\nThe provider answered with status 429 (too many requests).')
    expect(failureOfModel(new ModelFailure('credential', 'x'), embedding).id).to.equal(
      'v0:schemas:invalid-secrets',
    )
  })
})
