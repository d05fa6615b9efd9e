import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import { catalogTypes } from '../../../../src/run/catalog/types/catalog-types.ts'
import { modelChoices } from '../../../../src/run/models/model-prices.ts'
import { getKey, type Json } from '../../../../src/base/json/json.ts'
import { schemaProblems } from '../../../../src/registry/workflows/schemas/schema-problems.ts'
import { namedTypes } from './named-types.ts'

const ajv = new Ajv2020({ strict: false })

describe('catalog types', () => {
  it('are those that clients know, in their order, each under its own x-svc-type', () => {
    expect([...catalogTypes.keys()].join(' ')).to.equal(
      'message messages model llm llms loop tool tools context permissions response ' +
        'prompt-template agent-template skill-template run_request run_result',
    )
    for (const [key, schema] of catalogTypes)
      expect(getKey(schema, 'x-svc-type'), key).to.equal(key === 'model' ? 'grouped_choice' : key)
  })

  it('are JSON Schemas that need nothing from outside, and name only each other', () => {
    for (const [key, schema] of catalogTypes) {
      expect(schemaProblems(schema), key).to.deep.equal([])
      expect(JSON.stringify(schema), key).to.not.include('"$ref"')
      for (const name of namedTypes(schema)) expect(catalogTypes.has(name), `${key}: ${name}`).to.equal(true)
    }
  })

  it('give every property a title', () => {
    for (const [key, schema] of catalogTypes)
      for (const [path, property] of propertiesIn(schema, key))
        expect(property, path).to.have.property('title')
  })

  const image = { type: 'image_url', image_url: { url: 'https://example.org/a.png', detail: 'low' } }
  const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }
  const accepted: readonly [type: string, value: unknown][] = [
    ['message', { role: 'user', content: 'Hi' }],
    ['message', { role: 'assistant', content: null, tool_calls: [call] }],
    ['message', { role: 'user', content: [{ type: 'text', text: 'What is this?' }, image] }],
    ['message', { role: 'user', content: [{ type: 'file', file: { fileId: 'f1' } }] }],
    ['messages', [{ role: 'system' }]],
    ['llm', { model: 'o3', temperature: 2, tool_choice: 'auto', max_tokens: null }],
    ['llm', { tool_choice: { type: 'function', function: { name: 'look' } } }],
    ['prompt-template', { llm_config: { response_format: { type: 'json_object' } }, retry_policy: 'any' }],
    ['skill-template', { name: 'read-mail', description: 'Reads mail', body: 'First …' }],
    ['context', { anything: [1] }],
  ]
  const refused: readonly [type: string, value: unknown][] = [
    ['message', { content: 'Hi' }],
    ['message', { role: 'visitor', content: 'Hi' }],
    ['message', { role: 'user', content: [{ type: 'audio' }] }],
    ['message', { role: 'user', content: [{ type: 'text' }] }],
    ['messages', { role: 'user' }],
    ['llm', { temperature: 2.1 }],
    ['llm', { reasoning_effort: 'enormous' }],
    ['loop', { max_iterations: 0 }],
    ['tool', { type: 'internal' }],
    ['prompt-template', { template_format: 'erb' }],
    ['prompt-template', { llm_config: { max_tokens: 64001 } }],
    ['prompt-template', { llm_config: { response_format: { type: 'json_schema' } } }],
    ['prompt-template', { retry_config: { max_retries: 6 } }],
    ['skill-template', { name: 'Read Mail', description: '', body: '' }],
    ['agent-template', { speed: 1 }],
  ]
  for (const [type, value] of accepted)
    it(`${type} takes ${JSON.stringify(value)}`, () => expect(isOf(type, value)).to.equal(true))
  for (const [type, value] of refused)
    it(`${type} refuses ${JSON.stringify(value)}`, () => expect(isOf(type, value)).to.equal(false))

  describe('model', () => {
    const model = catalogTypes.get('model') as {
      readonly default: string
      readonly choices: Readonly<Record<string, readonly string[]>>
      readonly 'x-svc-metadata': Readonly<Record<string, Readonly<Record<string, object>>>>
    }

    it('offers the models of every provider, none twice, and prices only what it offers', () => {
      expect(Object.keys(model.choices)).to.have.members([
        'anthropic',
        'cohere',
        'deepinfra',
        'gemini',
        'groq',
        'mistral',
        'openai',
        'openrouter',
        'perplexityai',
        'together_ai',
        'minimax',
        'mock',
      ])
      const ids = Object.values(model.choices).flat()
      expect(new Set(ids).size).to.equal(ids.length)
      expect(ids).to.include(model.default)
      for (const [provider, prices] of Object.entries(model['x-svc-metadata'])) {
        expect(model.choices[provider]).to.include.members(Object.keys(prices))
        for (const price of Object.values(prices)) expect(price).to.have.all.keys('input', 'output')
      }
      expect(model['x-svc-metadata']['openai']?.['gpt-4o-mini']).to.deep.equal({ input: 0.15, output: 0.6 })
    })

    it('names the models of all but OpenAI with their provider', () => {
      for (const [provider, models] of Object.entries(modelChoices)) {
        const prefix =
          provider === 'openai' ? '' : provider === 'perplexityai' ? 'perplexity/' : `${provider}/`
        for (const { id } of models) {
          expect(id.startsWith(prefix), id).to.equal(true)
          if (prefix === '') expect(id).to.not.include('/')
        }
      }
    })
  })
})

function isOf(type: string, value: unknown): boolean {
  return ajv.compile(catalogTypes.get(type) ?? expect.fail(type))(value)
}

/** The properties of a schema and of all schemas in it, with where they stand. */
function propertiesIn(schema: Json, path: string): [string, Json][] {
  if (Array.isArray(schema)) return schema.flatMap((it, index) => propertiesIn(it, `${path}.${index}`))
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([key, value]): [string, Json][] => {
    if (key === 'default' || key === 'x-svc-metadata' || key === 'choices') return []
    const own = key === 'properties' ? Object.entries(value as Readonly<Record<string, Json>>) : []
    return [
      ...own.map(([name, it]): [string, Json] => [`${path}.${name}`, it]),
      ...propertiesIn(value, `${path}.${key}`),
    ]
  })
}
