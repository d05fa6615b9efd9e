import { expect } from 'chai'
import fc from 'fast-check'
import { containsText } from '../../../../src/run/handlers/metrics/contains-text.ts'

describe('handlers: one text in another', () => {
  it('a needle that V8 takes minutes for is sought at once', () => {
    const text = 'a'.repeat(1_000_000)
    const needle = `${'a'.repeat(250)}b${'a'.repeat(300_000)}`
    expect(containsText(text, needle)).to.equal(false)
    expect(containsText(`${text}b${text}`, needle)).to.equal(true)
  })

  it('long needles are found where they are, and nowhere else', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(word, word, fc.integer({ min: 300, max: 2000 }), (period, oddity, length) => {
        const body = period.repeat(length).slice(0, length)
        const text = body.repeat(20) + oddity + body.repeat(20)
        const needle = body.slice(3) + oddity + body
        expect(containsText(text, needle)).to.equal(text.includes(needle))
        expect(containsText(text, `${needle}c`)).to.equal(false)
        expect(containsText(text, `${body}${oddity}${oddity}${body}`)).to.equal(
          text.includes(`${body}${oddity}${oddity}${body}`),
        )
      }),
      { numRuns: 50 },
    )
  })

  it('an empty needle is in every text, a longer one in none', () => {
    expect(containsText('', '')).to.equal(true)
    expect(containsText('a'.repeat(9000), 'a'.repeat(9001))).to.equal(false)
  })
})
