import { canonicalJson } from '../../json/canonical-json.ts'
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { curlyTags } from './curly-tags.ts'
import type { RenderBudget } from './render-budget.ts'
import { resolvePath } from './resolve-path.ts'
import { spacedJson } from './spaced-json.ts'
import { TemplateFailure, variablesThere } from './template-format.ts'

/**
 * Renders `{{ expression }}` (interface 11.21): a variable's name, a dotted path, a JSONPath or a JSON Pointer; `curlyTags` says
 * what is one. Only once: what was put in is not looked at again. Throws a `TemplateFailure` that names all that finds nothing, and the
 * variables that there are.
 */
export function renderCurly(template: string, variables: JsonObject, budget: RenderBudget): string {
  const missing = new Set<string>()
  let rendered = ''
  let done = 0
  for (const { name, text, from, to } of curlyTags(template)) {
    const value = name === undefined ? '' : resolvePath(name, variables)
    if (value === undefined) missing.add(name ?? '')
    const put = text + (value === undefined ? '' : curlyText(value))
    budget.output(put.length)
    rendered += template.slice(done, from) + put
    done = to
  }
  if (missing.size > 0) {
    const names = [...missing].sort().map((name) => `'${name}'`)
    throw new TemplateFailure(
      `Unreplaced variables in curly template: [${names.join(', ')}]. ${variablesThere(variables)}`,
    )
  }
  return rendered + template.slice(done)
}

/** Texts as they are; `null`, `true`, `false` and numbers as RFC 8785 has them; objects and arrays as JSON text with spaces. */
function curlyText(value: Json): string {
  if (typeof value === 'string') return value
  return isJsonArray(value) || isJsonObject(value) ? spacedJson(value) : canonicalJson(value)
}
