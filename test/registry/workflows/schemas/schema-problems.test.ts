import { expect } from 'chai'
import type { JsonObject } from '../../../../src/base/json/json.ts'
import { parseJson } from '../../../../src/base/json/parse-json.ts'
import { schemaProblems } from '../../../../src/registry/workflows/schemas/schema-problems.ts'

const drafts = [
  'https://json-schema.org/draft/2020-12/schema',
  'https://json-schema.org/draft/2019-09/schema',
  'http://json-schema.org/draft-07/schema#',
  'http://json-schema.org/draft-06/schema#',
  'http://json-schema.org/draft-04/schema#',
]

describe('schema problems', () => {
  for (const $schema of drafts) {
    it(`checks a schema against ${$schema}`, () => {
      expect(
        schemaProblems({ $schema, type: 'object', properties: { a: { type: 'string' } } }),
      ).to.deep.equal([])
      const [problem, ...more] = schemaProblems({ $schema, properties: { 'a/b~': { minLength: 'two' } } })
      expect(problem?.path).to.deep.equal(['properties', 'a/b~', 'minLength'])
      expect(more).to.deep.equal([])
    })
  }

  it('reads each draft by its own rules', () => {
    const boundary = { minimum: 1, exclusiveMinimum: true }
    expect(schemaProblems({ $schema: drafts[4] ?? '', ...boundary })).to.deep.equal([])
    expect(schemaProblems({ $schema: drafts[3] ?? '', ...boundary })).to.have.length(1)
    expect(schemaProblems({ $schema: drafts[2] ?? '', if: 1 })).to.have.length(1)
    expect(schemaProblems({ $schema: drafts[3] ?? '', if: 1 })).to.deep.equal([])
  })

  it('takes a schema that names no draft for 2020-12', () => {
    expect(schemaProblems({ prefixItems: [] })).to.have.length(1)
    expect(schemaProblems({ $schema: drafts[1] ?? '', prefixItems: [] })).to.deep.equal([])
  })

  it('knows a draft with or without an empty fragment, by http or https', () => {
    expect(schemaProblems({ $schema: 'http://json-schema.org/draft/2020-12/schema#' })).to.deep.equal([])
    expect(schemaProblems({ $schema: 'https://json-schema.org/draft-07/schema' })).to.deep.equal([])
  })

  for (const $schema of [
    'https://example.org/schema',
    'http://json-schema.org/draft-03/schema#',
    '',
    4,
    {},
  ]) {
    it(`refuses $schema ${JSON.stringify($schema)} naming the drafts there are`, () => {
      const [problem] = schemaProblems({ $schema })
      expect(problem?.path).to.deep.equal(['$schema'])
      expect(problem?.message).to.contain(JSON.stringify($schema)).and.contain('draft-04')
    })
  }

  it('says once what several forms of a keyword complain about', () => {
    const [problem, ...more] = schemaProblems({ type: 'strin' })
    expect(more).to.deep.equal([])
    expect(problem?.path).to.deep.equal(['type'])
    expect(problem?.message).to.contain('"string"').and.contain('array')
  })

  it('finds patterns that are no regular expressions wherever a subschema can be', () => {
    const schema: JsonObject = {
      properties: { pattern: { type: 'string' }, a: { anyOf: [{ type: 'null' }, { pattern: '(' }] } },
      patternProperties: { '[': { items: { pattern: '(?i)x' } } },
      enum: [{ pattern: '(' }],
      default: { pattern: '(' },
    }
    expect(schemaProblems(schema).map(({ path }) => path)).to.deep.equal([
      ['properties', 'a', 'anyOf', 1, 'pattern'],
      ['patternProperties', '['],
      ['patternProperties', '[', 'items', 'pattern'],
    ])
  })

  it('lets through what only one of the two modes of JavaScript reads', () => {
    expect(schemaProblems({ pattern: '\\p{L}' })).to.deep.equal([])
    expect(schemaProblems({ pattern: '\\_' })).to.deep.equal([])
  })

  it('follows no reference and compiles nothing', () => {
    expect(schemaProblems({ $ref: 'http://127.0.0.1:1/nowhere.json' })).to.deep.equal([])
    expect(schemaProblems({ $ref: '#/nowhere', 'x-svc-type-ref': 'message' })).to.deep.equal([])
  })

  it('takes numbers past the range of a double, and awkward keys', () => {
    const schema = parseJson('{"maximum": 1e400, "properties": {"__proto__": {"type": "string"}, "1": {}}}')
    expect(schemaProblems(schema as JsonObject)).to.deep.equal([])
    const wrong = parseJson('{"properties": {"__proto__": {"type": "text"}}}')
    expect(schemaProblems(wrong as JsonObject)[0]?.path).to.deep.equal(['properties', '__proto__', 'type'])
  })

  it('answers a large schema made of mistakes quickly', () => {
    const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, { type: 'no' }]))
    expect(schemaProblems({ properties })).to.have.length(1)
  })
})
