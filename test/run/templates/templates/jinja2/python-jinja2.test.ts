import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import {
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../../../../../src/base/json/json.ts'
import { parseJson } from '../../../../../src/base/json/parse-json.ts'
import { renderTemplate } from '../../../../../src/run/templates/render-template.ts'
import { TemplateFailure } from '../../../../../src/run/templates/template-format.ts'

/** What Python's Jinja2 makes of templates; scripts/jinja2-expected.py wrote it. */
const DATA = 'test/run/templates/templates/jinja2/python-jinja2.json'

describe('prompts: jinja2, against what Python makes of it', () => {
  const data = objectOf(parseJson(readFileSync(DATA, 'utf8')))
  const variables = objectOf(getKey(data, 'variables'))
  const cases = getKey(data, 'cases')
  if (!isJsonArray(cases)) throw new Error(`${DATA} has no cases`)

  it('has many templates of version 3.1', () => {
    expect(getKey(data, 'jinja2')).to.match(/^3\.1\./)
    expect(cases.length).to.be.at.least(109)
  })

  for (const each of cases) {
    const template = jinjaText(getKey(objectOf(each), 'template'))
    const rendered = getKey(objectOf(each), 'rendered')
    it(rendered === undefined ? `refuses ${template}` : `renders ${template}`, () => {
      const render = (): string => renderTemplate('jinja2', template, variables)
      if (rendered === undefined) expect(render).to.throw(TemplateFailure)
      else expect(render()).to.equal(rendered)
    })
  }
})

function objectOf(value: Json | undefined): JsonObject {
  if (isJsonObject(value)) return value
  throw new Error(`${DATA} is not of the form that its script writes`)
}

function jinjaText(value: Json | undefined): string {
  if (typeof value === 'string') return value
  throw new Error(`${DATA} is not of the form that its script writes`)
}
