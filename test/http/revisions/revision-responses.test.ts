import { expect } from 'chai'
import { responseCache } from '../../../src/http/revisions/revision-responses.ts'
import { startTestsets } from '../testsets/testset-client.ts'

describe('answers that hold a revision', () => {
  it('are kept in memory of their own, so that the cache holds no more than it counts', async () => {
    const client = await startTestsets()
    try {
      const { id } = await client.make([{ question: 'é' }])
      responseCache.clear()
      const ask = () => client.service.post('/testsets/revisions/retrieve', { testset_ref: { id } })
      const first = await ask()
      expect(first.status).to.equal(200)
      const kept = [...responseCache.values()]
      expect(kept.map(({ text }) => text.toString())).to.deep.equal([first.text])
      for (const { text } of kept) expect(text.buffer.byteLength).to.equal(text.length)
      expect((await ask()).text).to.equal(first.text)
    } finally {
      await client.stop()
    }
  })
})
