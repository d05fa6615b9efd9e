import { expect } from 'chai'
import { respondWithLargeList } from '../../src/http/routing/send.ts'
import { holdsStream, stringifyStreams } from '../../src/base/json/json-stream.ts'

describe('a list of large records', () => {
  for (const length of [0, 1, 20, 21, 300]) {
    // interface 2.2
    it(`holds those that there are, and says how many (${length})`, async () => {
      const rows = Array.from({ length }, (_, n) => n)
      const { body } = await respondWithLargeList(
        'rows',
        { rows, next: 'x' },
        { order: 'ascending' },
        async (n) => (n % 3 === 0 ? undefined : { n }),
      )
      let text = ''
      for await (const piece of stringifyStreams(body ?? {})) text += piece
      const shown = rows.filter((n) => n % 3 !== 0).map((n) => ({ n }))
      const windowing = { order: 'ascending', next: 'x' }
      expect(JSON.parse(text)).to.deep.equal({ count: shown.length, rows: shown, windowing })
      expect(holdsStream(body)).to.equal(length > 20)
    })
  }

  it('makes none before it is written', async () => {
    let made = 0
    const { body } = await respondWithLargeList(
      'rows',
      { rows: Array.from({ length: 100 }), next: undefined },
      undefined,
      async () => ({ made: ++made, text: 'x'.repeat(100_000) }),
    )
    expect(made).to.equal(0)
    for await (const _ of stringifyStreams(body ?? {})) break
    // a first piece, and no more
    expect(made).to.be.within(1, 5)
  })
})
