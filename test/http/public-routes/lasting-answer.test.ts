import { expect } from 'chai'
import type { Context } from 'koa'
import { immutableResponse } from '../../../src/http/public-routes/lasting-answer.ts'

describe('an answer that stays the same', () => {
  it('is made once for all who ask while it is made, and anew where making it failed', async () => {
    let times = 0
    const answer = immutableResponse('text/plain', async () => {
      if (++times === 1) throw new Error('the disk is away')
      return 'Hello'
    })
    const refused = await Promise.allSettled([answer(context()), answer(context())])
    expect(refused.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected'])
    expect(times).to.equal(1)
    const [first, second] = [context(), context()]
    await Promise.all([answer(first), answer(second)])
    expect([first.body, second.body].map(String)).to.deep.equal(['Hello', 'Hello'])
    expect(times).to.equal(2)
  })
})

/** As much of a request and its answer as is looked at. */
function context(): Context {
  const partial = { req: { headers: {} }, set: () => undefined, vary: () => undefined, get: () => '' }
  return partial as unknown as Context
}
