import { handlerTable } from '../../../../src/run/handlers/workflows.ts'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import { type Json, type JsonObject, plainJson } from '../../../../src/base/json/json.ts'
import { parseJson } from '../../../../src/base/json/parse-json.ts'
import { stringifyJson } from '../../../../src/base/json/stringify-json.ts'
import { parseHandlerUri, fillSchemas } from '../../../../src/registry/workflows/workflow-data.ts'

const ajv = new Ajv2020({ strict: false })

describe('built-in interfaces', () => {
  const described = {
    pio: ['completion', 'chat', 'agent', 'llm', 'auto_ai_critique'],
    po: [
      'match',
      'echo',
      'auto_exact_match',
      'auto_regex_test',
      'field_match_test',
      'json_multi_field_match',
      'auto_webhook_test',
      'auto_starts_with',
      'auto_ends_with',
      'auto_contains',
      'auto_contains_any',
      'auto_contains_all',
      'auto_contains_json',
      'auto_json_diff',
      'auto_levenshtein_distance',
      'auto_similarity_match',
      'auto_semantic_similarity',
    ],
    p: ['auto_custom_code_run'],
  }

  for (const [key, parts] of Object.entries(described).flatMap(([parts, keys]) =>
    keys.map((key) => [key, parts] as const),
  )) {
    it(`${key} has schemas that compile, and defaults that satisfy them`, () => {
      const found = handlerTable.find(parseHandlerUri(`svc:builtin:${key}:v0`))?.schemas ?? {}
      const letters = (['parameters', 'inputs', 'outputs'] as const).filter(
        (part) => found[part] !== undefined,
      )
      expect(letters.map((part) => part[0]).join('')).to.equal(parts)
      for (const part of letters) validator(found[part] ?? {})
      const properties = (found.parameters as { properties: Record<string, { default?: unknown }> })
        .properties
      for (const [name, schema] of Object.entries(properties)) {
        if (schema.default === undefined) continue
        const whole = { ...(plainJson(found.parameters ?? {}) as object), required: [] }
        expect(validator(whole as JsonObject)({ [name]: schema.default }), name).to.equal(true)
      }
    })
  }

  /** Outputs of the handlers as interface 11.3, 11.16, 11.17 describe them. */
  const answers: readonly [key: string, outputs: readonly Json[]][] = [
    ['echo', [{ got: 'hi' }, { got: null }, { got: { deep: [1] } }]],
    [
      'auto_webhook_test',
      [{ score: 0.5, success: true }, { score: true, success: true }, { score: 1, why: 'good' }, 'fine'],
    ],
    ['auto_ai_critique', [{ score: 7, success: true }, { score: false, success: false }, { grade: 'A' }]],
  ]
  for (const [key, outputs] of answers) {
    it(`${key} promises no more than its handler keeps`, () => {
      const promised = handlerTable.find(parseHandlerUri(key))?.schemas?.outputs ?? expect.fail(key)
      for (const value of outputs) expect(validator(promised)(value), JSON.stringify(value)).to.equal(true)
      expect(validator(promised)(null)).to.equal(false)
    })
  }

  it('answers none for keys without schemas, other providers and versions there are not', () => {
    for (const uri of [
      'svc:custom:hook:v0',
      'svc:builtin:human:v0',
      'user:builtin:chat:v0',
      'svc:builtin:chat:v1',
    ]) {
      expect(handlerTable.find(parseHandlerUri(uri))?.schemas, uri).to.equal(undefined)
    }
    expect(handlerTable.find(parseHandlerUri('chat'))?.schemas).to.not.equal(undefined)
  })
})

describe('schema filling', () => {
  it('adds parameters and outputs, never inputs, behind what the client sent', () => {
    expect(keys(fill('{"uri": "svc:builtin:chat:v0", "parameters": {}}'))).to.deep.equal([
      'uri',
      'parameters',
      'schemas',
    ])
    const filled = fill('{"schemas": {"inputs": {"type": "object"}}, "uri": "svc:builtin:chat:v0"}')
    expect(keys(filled)).to.deep.equal(['schemas', 'uri'])
    expect(Object.keys(schemas(filled))).to.deep.equal(['inputs', 'parameters', 'outputs'])
    expect(schemas(filled)['inputs']).to.deep.equal({ type: 'object' })
    expect(schemas(filled)['outputs']).to.have.property('x-svc-type-ref', 'message')
  })

  it('keeps the schemas that the client sent', () => {
    const sent = '{"uri":"chat","schemas":{"parameters":{"type":"object"},"outputs":{"type":"null"}}}'
    expect(stringifyJson(fill(sent))).to.equal(sent)
  })

  it('adds nothing without a uri, for other providers and for handlers without schemas', () => {
    for (const uri of ['', '"uri":"user:custom:fn:v1"', '"uri":"svc:custom:code:v0"', '"uri":"a:b:c:d:e"']) {
      const sent = `{${uri}}`
      expect(stringifyJson(fill(sent))).to.equal(sent)
    }
  })

  const answer = { type: 'object', properties: { city: { type: 'string' } } }

  for (const [uri, parameters] of [
    [
      'completion',
      {
        prompt: { llm_config: { response_format: { type: 'json_schema', json_schema: { schema: answer } } } },
      },
    ],
    ['llm', { response: { format: 'json', schema: answer } }],
    ['auto_ai_critique', { json_schema: { name: 'x', schema: answer } }],
  ] as const) {
    it(`takes the outputs of ${uri} from its parameters, over what was sent`, () => {
      const data = { uri, parameters, schemas: { outputs: { type: 'null' } } }
      expect(outputs(fill(stringifyJson(data)))).to.deep.equal(answer)
    })
  }

  it('leaves outputs alone when the format is another, or the schema is none yet', () => {
    const format = (type: string, schema: Json): string =>
      stringifyJson({
        uri: 'completion',
        parameters: { prompt: { llm_config: { response_format: { type, json_schema: { schema } } } } },
      })
    const generic = outputs(fill('{"uri": "completion"}'))
    expect(outputs(fill(format('json_object', answer)))).to.deep.equal(generic)
    expect(outputs(fill(format('json_schema', { type: '{{kind}}' })))).to.deep.equal(generic)
    expect(outputs(fill(format('json_schema', 'text')))).to.deep.equal(generic)
    expect(
      outputs(fill('{"uri":"llm","parameters":{"response":{"format":"text","schema":{}}}}')),
    ).to.deep.equal(outputs(fill('{"uri":"llm"}')))
  })

  it('gives json_multi_field_match a number for each field', () => {
    const schema = outputs(
      fill('{"uri":"json_multi_field_match","parameters":{"fields":["a.b","7","__proto__"]}}'),
    )
    const valid = validator(schema)
    expect(valid({ 'a.b': 1, 7: 0, aggregate_score: 0.5 })).to.equal(true)
    expect(valid({ aggregate_score: 1 })).to.equal(true)
    expect(valid({ 'a.b': 1 })).to.equal(false)
    expect(valid({ aggregate_score: 1, other: 1 })).to.equal(false)
    expect(stringifyJson(schema)).to.match(/"a\.b".*"7".*"__proto__".*"aggregate_score"/)
  })

  it('gives match the tree of its matchers', () => {
    const matchers = [
      { key: 'city', match: 'exact' },
      { key: 'shape', matchers: [{ key: 'keys' }, { key: 'values', matchers: [] }] },
      { match: 'valid' },
      { key: 'score' },
    ]
    const schema = outputs(fill(stringifyJson({ uri: 'svc:builtin:match:v0', parameters: { matchers } })))
    const valid = validator(schema)
    const leaf = { success: true, score: 1, error: null }
    const whole = {
      score: 1,
      success: true,
      city: leaf,
      shape: { ...leaf, keys: leaf, values: leaf },
      '': leaf,
    }
    expect(valid(whole)).to.equal(true)
    expect(valid({ ...whole, city: undefined })).to.equal(false)
    expect(valid({ ...whole, shape: leaf })).to.equal(false)
    expect(valid({ ...whole, extra: leaf })).to.equal(false)
    expect(valid({ ...whole, city: { ...leaf, extra: 1 } })).to.equal(false)
    expect(valid({ ...whole, score: leaf })).to.equal(false)
  })

  it('leaves the outputs of match alone without matchers', () => {
    const generic = outputs(fill('{"uri": "match"}'))
    expect(outputs(fill('{"uri": "match", "parameters": {"matchers": []}}'))).to.deep.equal(generic)
    const valid = validator(generic)
    expect(
      valid({ score: 1, success: true, a: { success: true, score: 1, b: { success: true, score: 0 } } }),
    ).to.equal(true)
    expect(valid({ score: 1, success: true, a: 1 })).to.equal(false)
  })
})

function fill(text: string): JsonObject {
  const data = parseJson(text) as JsonObject
  const { uri } = plainJson(data) as { uri?: string }
  return fillSchemas(data, handlerTable.find(parseHandlerUri(uri ?? '')))
}

function keys(data: JsonObject): readonly string[] {
  return Object.keys(plainJson(data) as object)
}

function schemas(data: JsonObject): Readonly<Record<string, JsonObject>> {
  return (data as { schemas: Record<string, JsonObject> }).schemas
}

function outputs(data: JsonObject): JsonObject {
  return schemas(data)['outputs'] ?? {}
}

function validator(schema: JsonObject): (value: unknown) => boolean {
  const validate = ajv.compile(plainJson(schema) as object)
  return (value) => validate(value) === true
}
