import { expect } from 'chai'
import { SpanQueue } from '../../../src/feeds/traces/project-traces.ts'
import { NOON, spanWith } from '../../support/values/make-span.ts'

describe('traces: spans on their way to where they lie', () => {
  const MEGABYTE = 1024 * 1024
  const troubles: unknown[] = []
  const batches: number[] = []
  let queue: SpanQueue

  beforeEach(() => {
    troubles.length = 0
    batches.length = 0
    const store = {
      name: 'traces.db',
      write: async (spans: readonly unknown[]) => {
        batches.push(spans.length)
        return undefined
      },
    }
    queue = new SpanQueue(store, (trouble) => troubles.push(trouble))
  })

  it('what is stored makes room for what comes, however much that is in all', async () => {
    const large = 'x'.repeat(8 * MEGABYTE)
    for (let count = 0; count < 12; count++) {
      queue.add([spanWith({ inputs: large })], NOON)
      await queue.settled()
    }
    expect(queue.state).to.deep.equal({ failure: undefined, dropped: 0, waiting: 0 })
    expect(troubles).to.deep.equal([])
  })

  it('large ones are stored a few at a time', async () => {
    const large = 'x'.repeat(2 * MEGABYTE)
    for (let count = 0; count < 9; count++) queue.add([spanWith({ inputs: large })], NOON)
    await queue.close()
    expect(batches.reduce((sum, size) => sum + size, 0)).to.equal(9)
    for (const size of batches) expect(size).to.be.at.most(2)
  })
})
