import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { type ChatStub, startChatStub } from '../models/chat-stub.ts'
import { runDocument } from './run-document.ts'

describe('README.md', () => {
  let model: ChatStub
  before(async () => {
    model = await startChatStub()
  })
  after(() => model.stop())

  it('runs as it stands: every block, pasted in order in a fresh checkout, prints what it shows', async function () {
    this.timeout(900_000) // dozens of programs, on a machine with other work
    // A reader has a model of their own.
    const problems = await runDocument(readFileSync('README.md', 'utf8'), {
      env: { OPENAI_BASE_URL: model.url },
    })
    expect(problems.join('\n\n')).to.equal('')
    expect(model.received).to.not.be.empty
  })
})
