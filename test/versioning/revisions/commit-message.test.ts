import { expect } from 'chai'
import fc from 'fast-check'
import { decodeMessage, encodeMessage } from '../../../src/versioning/revisions/commit-message.ts'

describe('commit messages', () => {
  const trailers = { variant: 'main', slug: 'named', idempotencyKey: 'k-1' }

  for (const message of [
    undefined,
    '',
    'Cooler',
    'Cooler\n',
    'Two\n\nparagraphs\n\n\n',
    'Ends as ours do\n\nVariant: mine',
    'Variant: mine',
    'Signed\n\nSigned-off-by: Ann <ann@example.com>',
    '\r\n',
  ]) {
    it(`${JSON.stringify(message)} comes back as it was`, () => {
      expect(decodeMessage(encodeMessage({ message, trailers }))).to.deep.equal({ message, trailers })
    })
  }

  it('any message comes back as it was', () => {
    const line = fc.constantFrom('Variant: a', 'Slug: b', 'Key: value', '', 'text', ' ')
    const message = fc.oneof(
      fc.string(),
      fc.array(line).map((lines) => lines.join('\n')),
    )
    fc.assert(
      fc.property(message, (text) => {
        expect(decodeMessage(encodeMessage({ message: text, trailers })).message).to.equal(text)
      }),
      { seed: 1, numRuns: 2000 },
    )
  })

  it("joins a block of the message's own trailers, as git interpret-trailers reads them", () => {
    const message = 'Signed\n\nSigned-off-by: Ann <ann@example.com>'
    expect(encodeMessage({ message, trailers: { variant: 'main' } })).to.equal(`${message}\nVariant: main\n`)
  })

  it("reads what plain git wrote: its final newline is git's", () => {
    expect(decodeMessage('By hand\n')).to.deep.equal({ message: 'By hand', trailers: {} })
    expect(decodeMessage('By hand\n\nVariant: main\n').message).to.equal('By hand')
  })
})
