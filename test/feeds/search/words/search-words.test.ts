import { expect } from 'chai'
import fc from 'fast-check'
import type { Refusal } from '../../../../src/errors.ts'
import { DatabaseFile } from '../../../../src/storage/sqlite/database-file.ts'
import { bestExcerpt, excerptOf, findTerms } from '../../../../src/feeds/search/words/excerpt.ts'
import { matchExpression, type Search, parseSearch } from '../../../../src/feeds/search/words/parse-search.ts'
import { indexedText } from '../../../../src/feeds/search/words/search-words.ts'

const parse = (query: string): Search => parseSearch(query, ['body', 'query'])

describe('search: words', () => {
  it('are joined, in phrases, begun, and left out; nothing else is syntax', () => {
    const terms = (query: string): string => {
      const { wanted, unwanted } = parse(query)
      const told = (all: Search['wanted']): string =>
        all.map(({ words, isPrefix }) => `${words.join('+')}${isPrefix ? '*' : ''}`).join(' ')
      return unwanted.length > 0 ? `${told(wanted)} - ${told(unwanted)}` : told(wanted)
    }
    expect(terms('Capital "of France" pari* -draft')).to.equal('capital of+france pari* - draft')
    expect(terms('NEAR( AND col:x ^a b + "open')).to.equal('near and col+x a b open')
    expect(terms('a* ab* "ab*"')).to.equal('a ab* ab')
    expect(terms('Straße café ÉTÉ')).to.equal('straße cafe ete')
    expect(terms('-"not this" that')).to.equal('that - not+this')
    expect(terms('東京都 京')).to.equal('東京+京都 京*')
  })

  for (const query of ['', '   ', '"', '-x', '!!! … ***', '-"a b"', '\ud800'])
    it(`${JSON.stringify(query)} asks for nothing`, () => {
      expect(() => parse(query))
        .to.throw()
        .with.property('code', 'empty_query' satisfies Refusal['code'])
    })

  it('more than a hundred are refused, with the field', () => {
    expect(() => parse('a '.repeat(101))).to.throw(/^body\.query: has more than 100 words/)
  })

  it('are found by the index in what they are found in by a look, whatever they are', () => {
    const file = new DatabaseFile(':memory:', 0, (database) => {
      database.exec(
        `CREATE VIRTUAL TABLE t USING fts5 (x, content = '', contentless_delete = 1,
         tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'")`,
      )
    })
    const piece = fc.constantFrom(
      ...[
        'a',
        'ab',
        'Ab',
        'été',
        'ete',
        '東',
        '京都',
        'の天気',
        ' ',
        '  ',
        '-',
        '"',
        '(',
        '*',
        '\n',
        'ß',
        '1',
        'ภาษา',
        '\u0301',
        '한국',
      ],
    )
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 3 }), text, (texts, query) => {
        let search: Search
        try {
          search = { ...parse(query), unwanted: [] }
        } catch {
          return
        }
        file.run('DELETE FROM t WHERE rowid = 1')
        file.run('INSERT INTO t (rowid, x) VALUES (1, ?)', indexedText(texts))
        const isFound = file.rows('SELECT rowid FROM t WHERE t MATCH ?', matchExpression(search)).length > 0
        const looked = search.wanted.every((term) =>
          texts.some((it) => findTerms(it, { wanted: [term], unwanted: [] }).terms === 1),
        )
        expect(isFound, JSON.stringify([texts, query])).to.equal(looked)
      }),
      { numRuns: 2000 },
    )
  })

  it('are looked for in a bounded part of what a hit has, the same in every order of letters', () => {
    const search = parse('needle hay*')
    const plain = `${'x '.repeat(400_000)}a needle in haystacks`
    // It begins where the first of them may be.
    expect(findTerms(plain, search)).to.deep.include({ terms: 2, isCut: false, looked: 21 - 'a '.length })
    const accents = `${'é '.repeat(400_000)}needle`
    expect(findTerms(accents, search, 1000)).to.deep.equal({
      terms: 0,
      ranges: [],
      looked: 1000,
      isCut: true,
    })
    expect(bestExcerpt(['nothing', 'é needle', 'a needle, and hay', plain], search)).to.include({ at: 2 })
    // Where what may be looked through ends before any of it is found, there are no marks.
    expect(bestExcerpt(['nothing', accents, 'a needle'], search)).to.deep.include({ at: 1, ranges: [] })
    expect(bestExcerpt(['nothing', 'of it'], search)).to.equal(undefined)
  })

  it('are marked in an excerpt, in UTF-16 units', () => {
    const text = `${'😀 lorem '.repeat(30)}the capital\nof France, and ${'ipsum '.repeat(60)}`
    const { excerpt, ranges } = excerptOf(text, findTerms(text, parse('capital france')).ranges)
    expect(excerpt).to.match(/^… .*the capital of France, and .* …$/)
    expect(ranges.map(([from, to]) => excerpt.slice(from, to))).to.deep.equal(['capital', 'France'])
    expect(excerpt.length).to.be.lessThan(170)
    const { ranges: marked } = excerptOf('東京都の天気', findTerms('東京都の天気', parse('京')).ranges)
    expect(marked).to.deep.equal([[1, 2]])
  })
})
