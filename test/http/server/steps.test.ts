import { expect } from 'chai'
import { Steps } from '../../../src/http/server/steps.ts'

describe('steps of a stop', () => {
  it('are taken one after the other, and what hangs or fails keeps none of the others and is named', async () => {
    const steps = new Steps(200)
    const taken: string[] = []
    await steps.take('one that ends', async () => taken.push('first'))
    await steps.take('one that hangs', () => new Promise(() => undefined))
    await steps.take('one that fails', () => Promise.reject(new Error('the disk is full')))
    await steps.take('one that throws', () => {
      throw new Error('no such thing')
    })
    await steps.take('the last', () => taken.push('last'))
    expect(taken).to.deep.equal(['first', 'last'])
    expect(steps.kept).to.deep.equal([
      'one that hangs',
      'one that fails (the disk is full)',
      'one that throws (no such thing)',
    ])
  })
})
