import type { JsonObject } from '../../../json/json.ts'
import type { RenderBudget } from '../render-budget.ts'
import { TemplateFailure } from '../template-format.ts'
import { JinjaInterpreter } from './jinja-interpreter.ts'
import { parseJinja } from './jinja-parser.ts'

/**
 * Renders Jinja2 as its version 3.1 does in Python, without autoescaping and without extensions but `break` and `continue`: what is
 * missing becomes nothing, an attribute of what is missing is an error, values are shown as Python shows them. `{{$…}}` is a JSONPath
 * into all variables that has to find something, and becomes JSON text. Nothing but the variables is in reach, and tags, filters and
 * tests that are not here are refused by name.
 */
export function renderJinja2(template: string, variables: JsonObject, budget: RenderBudget): string {
  if (template.includes('\0')) throw new TemplateFailure('A jinja2 template must not hold a NUL character.')
  return new JinjaInterpreter(variables, budget).render(parseJinja(template))
}
