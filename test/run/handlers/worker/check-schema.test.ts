import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { HandlerFailure } from '../../../../src/run/handlers/handler-failure.ts'
import { checkSchema as checkSchemaFor } from '../../../../src/run/handlers/worker/check-schema.ts'
import type { Json, JsonObject } from '../../../../src/base/json/json.ts'
import { handlerContext } from '../handler-context.ts'

const checkSchema = (schema: JsonObject, part: string, value: Json) =>
  checkSchemaFor(schema, part, value, handlerContext())

const QUICK: JsonObject = {
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 1 },
    list: { type: 'array', items: { enum: ['a', 'b'] } },
  },
  required: ['city'],
  additionalProperties: false,
}
/** The same, in words that are not sure to be quick. */
const SLOW: JsonObject = { $defs: { all: QUICK }, $ref: '#/$defs/all' }

describe('handlers: schemas of inputs and outputs', () => {
  const values: readonly Json[] = [
    { city: 'Oslo' },
    { city: 'Oslo', list: ['a', 'b'] },
    { city: '' },
    {},
    { city: 'Oslo', list: ['c'] },
    { city: 'Oslo', more: 1 },
    { city: 'Oslo', list: new Array<Json>(50_000).fill('a') },
    { city: 'Oslo', list: [...new Array<Json>(50_000).fill('a'), 'c'] },
    [],
    null,
  ]
  for (const value of values) {
    it(`say the same here and aside of ${JSON.stringify(value).slice(0, 40)}`, async () => {
      const said = [await checkSchema(QUICK, 'inputs', value), await checkSchema(SLOW, 'inputs', value)]
      expect(said[0]).to.equal(said[1])
    })
  }

  it('are checked at once where that is sure to be quick, with a sentence', () => {
    expect(checkSchema(QUICK, 'inputs', { city: 'Oslo' })).to.equal(undefined)
    expect(checkSchema(QUICK, 'inputs', { city: 'Oslo', list: ['a', 'c'] })).to.equal(
      'inputs.list[1] must be one of ["a","b"]',
    )
    expect(checkSchema(QUICK, 'inputs', { city: '', list: new Array<Json>(50_000).fill('a') })).to.be.a(
      'promise',
    )
  })

  const plain: readonly JsonObject[] = [
    { title: 'A', $defs: { pattern: { type: 'string' } }, properties: { format: { enum: [1] }, not: true } },
    { type: 'array', prefixItems: [{ const: { pattern: 1 } }, { default: { $ref: 'x' } }], items: false },
    { additionalProperties: { type: 'object', additionalProperties: false, examples: [{ if: 1 }] } },
  ]
  for (const schema of plain) {
    it(`are checked at once with plain words alone: ${JSON.stringify(schema)}`, () => {
      expect(checkSchema(schema, 'inputs', {})).to.not.be.a('promise')
    })
  }

  const others: readonly JsonObject[] = [
    { pattern: 'a' },
    { $ref: '#' },
    { unheardOf: 1 },
    { properties: { a: { items: { uniqueItems: true } } } },
    { items: [{ additionalProperties: { unheardOf: true } }] },
    { prefixItems: [{ type: 'string' }, { anyOf: [true] }] },
    { $defs: { a: { $dynamicRef: '#a' } } },
    { additionalProperties: { definitions: { a: { format: 'date' } } } },
  ]
  for (const schema of others) {
    it(`are checked aside with any other word in them: ${JSON.stringify(schema)}`, async () => {
      const check = checkSchema(schema, 'inputs', [])
      expect(check).to.be.a('promise')
      await Promise.resolve(check).catch(() => undefined)
    })
  }

  it('that lead nowhere are refused', async () => {
    const failure = await failureOf(checkSchema({ $ref: '#/$defs/none' }, 'outputs', {}))
    expect(failure.id).to.equal('v0:schemas:invalid-parameters')
    expect(failure.message).to.contain('schemas.outputs').and.contain('#/$defs/none')
  })

  const names = Array.from({ length: 20_000 }, (_, index) => `p${index}`)
  const hostile: Readonly<Record<string, readonly [schema: JsonObject, value: Json]>> = {
    'a pattern that tries too much': [{ pattern: '^(a+)+$' }, `${'a'.repeat(40)}!`],
    'such a pattern for names': [
      { patternProperties: { '^(a+)+$': {} } },
      Object.fromEntries([[`${'a'.repeat(40)}!`, 1]]),
    ],
    'references that double': [doubling(40), {}],
    'thousands of properties': [
      { properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) },
      {},
    ],
  }
  for (const [what, [schema, value]] of Object.entries(hostile)) {
    it(`with ${what} keep nobody else waiting, and are given up`, async () => {
      let turns = 0
      let isOver = false
      const failure = failureOf(checkSchema(schema, 'inputs', value)).finally(() => (isOver = true))
      for (; !isOver; turns++) await setImmediate()
      expect((await failure).message).to.contain('cannot be used')
      expect(turns).to.be.greaterThan(100)
    })
  }
})

/** Each level asks for the one below twice. */
function doubling(levels: number): JsonObject {
  const below = (index: number): Json => ({ $ref: `#/$defs/d${index}` })
  const defs = Array.from({ length: levels }, (_, index): [string, Json] => [
    `d${index}`,
    index === levels - 1
      ? { type: 'object', minProperties: 0 }
      : { allOf: [below(index + 1), below(index + 1)] },
  ])
  return { $defs: Object.fromEntries(defs), $ref: '#/$defs/d0' }
}

async function failureOf(work: unknown): Promise<HandlerFailure> {
  try {
    await work
  } catch (error) {
    if (error instanceof HandlerFailure) return error
    throw error
  }
  throw new Error('nothing was refused')
}
