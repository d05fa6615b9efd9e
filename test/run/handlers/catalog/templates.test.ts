import { handlerTable } from '../../../../src/run/handlers/workflows.ts'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import { catalogTemplates } from '../../../../src/run/catalog/find-in-catalog.ts'
import { catalogTypes } from '../../../../src/run/catalog/types/catalog-types.ts'
import {
  getKey,
  type Json,
  isJsonObject,
  type JsonObject,
  plainJson,
} from '../../../../src/base/json/json.ts'
import { isManaged, parseHandlerUri } from '../../../../src/registry/workflows/workflow-data.ts'
import { schemaProblems } from '../../../../src/registry/workflows/schemas/schema-problems.ts'
import { namedTypes } from './named-types.ts'

const ajv = new Ajv2020({ strict: false })

/** Key, roles, archived or not, categories, name (interface 7.13). */
const TABLE = `
feedback AE - - Custom Feedback
hook AE - - Custom Hook
code AE - - Custom Code
mock AE - custom
match E - - Builtin Matcher
llm AE - - Builtin LLM
chat A - builtin chat
completion A - builtin completion
agent A - builtin agent
echo E - builtin
auto_exact_match E - classifiers Exact Match
auto_regex_test E - classifiers Regex Test
field_match_test E archived classifiers JSON Field Match
json_multi_field_match E - classifiers JSON Multi-Field Match
auto_webhook_test E - custom Webhook test
auto_custom_code_run E - custom Code Evaluation
auto_ai_critique E - ai_llm LLM-as-a-judge
auto_starts_with E archived classifiers Starts With
auto_ends_with E archived classifiers Ends With
auto_contains E archived classifiers Contains
auto_contains_any E archived classifiers Contains Any
auto_contains_all E archived classifiers Contains All
auto_contains_json E - classifiers Contains JSON
auto_json_diff E - classifiers JSON Diff Match
auto_levenshtein_distance E - similarity Levenshtein Distance
auto_similarity_match E - similarity Similarity Match
auto_semantic_similarity E - similarity Semantic Similarity Match
`

describe('catalog templates', () => {
  // interface 7.13
  it('are those that clients know, in their order', () => {
    const rows = catalogTemplates.map(({ key, flags, categories, name = '' }) =>
      [
        key,
        (flags.is_application ? 'A' : '') + (flags.is_evaluator ? 'E' : ''),
        flags.is_archived ? 'archived' : '-',
        categories.join() || '-',
        name,
      ]
        .join(' ')
        .trim(),
    )
    const known = TABLE.trim().split('\n')
    const keys = known.map((row) => row.split(' ')[0])
    // What is added later stands anywhere between them.
    expect(rows.filter((row) => keys.includes(row.split(' ')[0]))).to.deep.equal(known)
  })

  it('have a uri of this service, a description, and no flag that the catalog does not use', () => {
    for (const { key, uri, description, flags } of catalogTemplates) {
      const handler = parseHandlerUri(uri)
      expect(isManaged(handler) && handlerTable.uriProblem(handler), uri).to.equal(undefined)
      expect(handler, uri).to.include({ key, version: 'v0' })
      expect(description, key).to.match(/^\p{Lu}.*\.$/u)
      expect([flags.is_snippet, flags.is_recommended], key).to.deep.equal([false, false])
    }
  })

  it('have schemas that are JSON Schemas, none for what takes anything', () => {
    const without = catalogTemplates.filter(({ schemas }) => Object.keys(schemas).length === 0)
    expect(without.map(({ key }) => key)).to.deep.equal(['feedback', 'hook', 'code', 'mock'])
    for (const { key, schemas } of catalogTemplates)
      for (const [part, schema] of Object.entries(schemas))
        expect(schemaProblems(schema), `${key} ${part}`).to.deep.equal([])
  })

  it('name and explain each parameter of an evaluator, for its form', () => {
    const silent = catalogTemplates
      .filter(({ flags }) => flags.is_evaluator)
      .flatMap(({ key, schemas }) => silentIn(schemas.parameters ?? null, key))
    expect(silent).to.deep.equal([])
  })

  it('keep only plain defaults in their schemas, and all of them in their parameters', () => {
    const kept: string[] = []
    for (const { key, schemas } of catalogTemplates) {
      for (const value of defaultsIn(schemas as Json)) {
        expect(typeof value === 'object' && value !== null, `${key}: ${JSON.stringify(value)}`).to.equal(
          false,
        )
        kept.push(key)
      }
    }
    expect(kept).to.include.members(['auto_regex_test', 'auto_custom_code_run', 'match'])
    const parametersOf = (key: string) => catalogTemplates.find((it) => it.key === key)?.parameters
    expect(parametersOf('match')).to.deep.equal({ score: 'weighted', success: 'threshold', threshold: 1 })
    expect(parametersOf('llm')).to.deep.equal({ messages: [] })
    expect(parametersOf('auto_contains_json')).to.deep.equal({})
    expect(parametersOf('auto_similarity_match')).to.deep.equal({
      similarity_threshold: 0.5,
      correct_answer_key: 'correct_answer',
    })
    expect(Object.keys(parametersOf('auto_ai_critique') ?? {})).to.have.members([
      'prompt_template',
      'model',
      'response_type',
      'json_schema',
      'version',
    ])
    expect(Object.keys(parametersOf('auto_custom_code_run') ?? {})).to.have.members([
      'runtime',
      'version',
      'code',
    ])
  })

  it('have default parameters that satisfy their schemas, but for what has to be filled in', () => {
    for (const { key, schemas, parameters } of catalogTemplates) {
      if (!schemas.parameters) continue
      const errors = problemsOf(schemas.parameters, parameters)
      const required = (getKey(schemas.parameters, 'required') ?? []) as string[]
      const missing = required
        .filter((name) => getKey(parameters, name) === undefined)
        .map((name) => `must have required property '${name}'`)
      expect(missing.length, key).to.be.lessThan(2)
      expect(errors, key).to.deep.equal(missing)
    }
  })

  it('have default parameters that are of the types that their schemas name', () => {
    let checked = 0
    for (const { key, schemas, parameters } of catalogTemplates) {
      const properties = schemas.parameters ? getKey(schemas.parameters, 'properties') : undefined
      for (const [name, schema] of Object.entries((properties ?? {}) as Record<string, JsonObject>)) {
        const type = catalogTypes.get(String(getKey(schema, 'x-svc-type-ref')))
        const value = getKey(parameters, name)
        if (!type || value === undefined) continue
        expect(problemsOf(type, value), `${key} ${name}`).to.deep.equal([])
        checked++
      }
    }
    expect(checked).to.equal(6)
  })

  it('refer only to types that the catalog has', () => {
    const named = new Set(catalogTemplates.flatMap(({ schemas }) => namedTypes(schemas as Json)))
    expect(named.size).to.be.greaterThan(5)
    for (const name of named) expect(catalogTypes.has(name), name).to.equal(true)
  })
})

function problemsOf(schema: JsonObject, value: Json): string[] {
  const validate = ajv.compile(plainJson(schema) as object)
  validate(plainJson(value))
  return (validate.errors ?? []).map(({ message = '' }) => message)
}

/** The properties of a schema, of its properties and of its definitions that lack a title or a sentence about them. */
function silentIn(schema: Json, place: string): string[] {
  const membersOf = (name: string) => Object.entries((getKey(schema as JsonObject, name) ?? {}) as JsonObject)
  if (!isJsonObject(schema)) return []
  const properties = membersOf('properties')
  const silent = properties.filter(([, it]) => {
    const [title, description] = [getKey(it as JsonObject, 'title'), getKey(it as JsonObject, 'description')]
    return typeof title !== 'string' || !/^\p{Lu}.*\.$/u.test(String(description))
  })
  return [
    ...silent.map(([name]) => `${place}.${name}`),
    ...[...properties, ...membersOf('$defs')].flatMap(([name, it]) => silentIn(it, `${place}.${name}`)),
  ]
}

/** Every value of a keyword `default` in some schemas. */
function defaultsIn(value: Json): Json[] {
  if (Array.isArray(value)) return value.flatMap(defaultsIn)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => (key === 'default' ? [member] : defaultsIn(member)))
}
