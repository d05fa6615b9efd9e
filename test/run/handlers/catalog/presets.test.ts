import { createContext, runInContext } from 'node:vm'
import { transformSync } from '@swc/wasm-typescript'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import type { CatalogPreset } from '../../../../src/run/catalog/catalog-template.ts'
import { catalogTemplates } from '../../../../src/run/catalog/find-in-catalog.ts'
import { catalogTypes } from '../../../../src/run/catalog/types/catalog-types.ts'
import { getKey, type Json, type JsonObject, plainJson } from '../../../../src/base/json/json.ts'
import { schemaProblems } from '../../../../src/registry/workflows/schemas/schema-problems.ts'

const ajv = new Ajv2020({ strict: false })
const presetsOf = (key: string) => catalogTemplates.find((it) => it.key === key)?.presets ?? expect.fail(key)
const pinned = (preset: CatalogPreset | undefined, name: string): Json =>
  getKey(preset?.parameters ?? {}, name) ?? expect.fail(name)

describe('catalog presets', () => {
  it('are those that clients know, in their order', () => {
    const keys = catalogTemplates.map(
      ({ key, presets }) => `${key}: ${presets.map((it) => it.key).join(' ')}`,
    )
    expect(keys.filter((it) => !it.endsWith(': '))).to.deep.equal([
      'feedback: quality-rating',
      'auto_regex_test: starts_with ends_with contains contains_any contains_all',
      'auto_custom_code_run: python_default javascript_default typescript_default',
      'auto_ai_critique: hallucination conciseness answer_relevancy helpfulness',
    ])
  })

  it('pin parameters that their template’s schema takes, and schemas that are schemas', () => {
    for (const { key, schemas, presets } of catalogTemplates)
      for (const preset of presets) {
        const validate = ajv.compile(plainJson(schemas.parameters ?? {}) as object)
        validate(plainJson(preset.parameters ?? {}))
        expect(validate.errors ?? [], `${key} ${preset.key}`).to.deep.equal([])
        for (const schema of Object.values(preset.schemas ?? {}))
          expect(schemaProblems(schema), `${key} ${preset.key}`).to.deep.equal([])
      }
  })

  const patterns: readonly [key: string, matching: readonly string[], other: readonly string[]][] = [
    ['starts_with', ['PREFIX_PLACEHOLDER and more'], ['no PREFIX_PLACEHOLDER']],
    ['ends_with', ['so: SUFFIX_PLACEHOLDER'], ['SUFFIX_PLACEHOLDER.']],
    ['contains', ['a SUBSTRING_PLACEHOLDER b'], ['a SUBSTRING b']],
    ['contains_any', ['the OPTION2'], ['OPTION4']],
    ['contains_all', ['SUBSTRING3,\nSUBSTRING1,\nSUBSTRING2'], ['SUBSTRING1 SUBSTRING3']],
  ]
  for (const [key, matching, other] of patterns) {
    it(`regex ${key} finds what it says, and nothing else`, () => {
      const preset = presetsOf('auto_regex_test').find((it) => it.key === key)
      const pattern = new RegExp(String(pinned(preset, 'regex_pattern')))
      expect(pinned(preset, 'regex_should_match')).to.equal(true)
      for (const text of matching) expect(pattern.test(text), text).to.equal(true)
      for (const text of other) expect(pattern.test(text), text).to.equal(false)
    })
  }

  const verdicts = [
    ['Paris', { score: 1, success: true }],
    ['Lyon', { score: 0, success: false }],
  ] as const

  for (const runtime of ['javascript', 'typescript']) {
    it(`code in ${runtime} tells equal from unequal, of texts and of objects`, () => {
      const preset = presetsOf('auto_custom_code_run').find((it) => it.key === `${runtime}_default`)
      const source = String(pinned(preset, 'code'))
      const script = runtime === 'typescript' ? transformSync(source, { mode: 'strip-only' }).code : source
      const evaluate = (inputs: object, outputs: unknown): unknown =>
        JSON.parse(
          String(
            runInContext(
              `${script}; JSON.stringify(evaluate(inputs, outputs, null))`,
              createContext({ inputs, outputs }),
            ),
          ),
        )
      for (const [answer, verdict] of verdicts)
        expect(evaluate({ correct_answer: 'Paris' }, answer)).to.deep.equal(verdict)
      expect(evaluate({ correct_answer: { city: 'Paris' } }, { city: 'Paris' })).to.have.property(
        'success',
        true,
      )
    })
  }

  it('code in python is what a code evaluator begins with', () => {
    const template = catalogTemplates.find((it) => it.key === 'auto_custom_code_run') ?? expect.fail()
    expect(pinned(template.presets[0], 'code')).to.equal(getKey(template.parameters, 'code'))
  })

  it('judges show what is judged, and answer every field of a closed form with a score', () => {
    for (const preset of presetsOf('auto_ai_critique')) {
      const messages = pinned(preset, 'prompt_template')
      expect(ajv.validate(catalogTypes.get('messages') ?? {}, messages), preset.key).to.equal(true)
      const text = JSON.stringify(messages)
      expect(text, preset.key).to.include('{{outputs}}')
      expect(text.includes('{{inputs}}'), preset.key).to.equal(preset.key !== 'answer_relevancy')
      const form = pinned(preset, 'json_schema') as { name: string; strict: boolean; schema: JsonObject }
      expect(form).to.include({ name: 'schema', strict: true })
      const { properties, required } = form.schema as unknown as { properties: object; required: string[] }
      expect(required, preset.key).to.deep.equal(Object.keys(properties)).and.to.include('score')
      expect(form.schema).to.have.property('additionalProperties', false)
      expect(preset.parameters).to.include({
        model: 'gpt-4o-mini',
        response_type: 'json_schema',
        version: '5',
        template_format: 'mustache',
      })
    }
  })
})
