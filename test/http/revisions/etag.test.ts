import { expect } from 'chai'
import { etagMatches, revisionOfEtag } from '../../../src/http/routing/send.ts'

describe('entity tags', () => {
  const etag = '"0f3c9a1b.77aa"'

  for (const [header, matches] of [
    [undefined, false],
    ['', false],
    ['*', true],
    [etag, true],
    [`W/${etag}`, true],
    [`"other", W/${etag}, "more"`, true],
    ['"other"', false],
    ['"0f3c9a1b.77"', false],
    ['0f3c9a1b.77aa', false],
    ['"a, b", "0f3c9a1b.77aa"', true],
  ] as const) {
    it(`If-None-Match ${header} ${matches ? 'names' : 'does not name'} the tag`, () => {
      expect(etagMatches(header, etag)).to.equal(matches)
    })
  }

  it('compares weakly in both directions', () => {
    expect(etagMatches('"x"', 'W/"x"')).to.equal(true)
  })

  it('gives the revision id of If-Match, whatever else shaped the tag', () => {
    expect(revisionOfEtag(etag)).to.equal('0f3c9a1b')
    expect(revisionOfEtag('W/"0f3c9a1b.else"')).to.equal('0f3c9a1b')
    expect(revisionOfEtag('"0f3c9a1b"')).to.equal('0f3c9a1b')
    for (const other of ['*', '', '0f3c9a1b', '"".x"', '"."', '"a", "b"'])
      expect(revisionOfEtag(other)).to.equal(undefined)
  })
})
