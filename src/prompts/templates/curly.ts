import type { JsonObject } from '../../json/json.ts'
import type { RenderBudget } from './render-budget.ts'
import { resolvePath } from './resolve-path.ts'
import { TemplateFailure } from './template-format.ts'
import { valueText } from './value-text.ts'

/**
 * Renders `{{ expression }}` (contract/handlers 3.1): a variable's name, a dotted path, a JSONPath or a JSON Pointer. Only once: what
 * was put in is not looked at again. A `{{` without its `}}` stays. Throws a `TemplateFailure` that names all that finds nothing.
 */
export function renderCurly(template: string, variables: JsonObject, budget: RenderBudget): string {
  const missing = new Set<string>()
  let rendered = ''
  let done = 0
  for (let open = template.indexOf('{{'); open !== -1; open = template.indexOf('{{', done)) {
    const close = template.indexOf('}}', open + 2)
    if (close === -1) break
    const expression = template.slice(open + 2, close).trim()
    const value = resolvePath(expression, variables)
    if (value === undefined) missing.add(expression)
    const text = value === undefined ? '' : valueText(value)
    budget.output(text.length)
    rendered += template.slice(done, open) + text
    done = close + 2
  }
  if (missing.size > 0) {
    const names = [...missing].sort().map((name) => `'${name}'`)
    throw new TemplateFailure(`Unreplaced variables in curly template: [${names.join(', ')}].`)
  }
  return rendered + template.slice(done)
}
