import type { JsonObject } from '../../../json/json.ts'
import type { RenderBudget } from '../render-budget.ts'
import { TemplateFailure } from '../template-format.ts'
import { jinjaFilter } from './jinja-filters.ts'
import { JinjaInterpreter } from './jinja-interpreter.ts'
import type { Expression, FilterCall, Statement } from './jinja-nodes.ts'
import { parseJinja } from './jinja-parser.ts'
import { jinjaTest } from './jinja-tests.ts'

/**
 * Renders Jinja2 as its version 3.1 does in Python, without autoescaping and without extensions but `break` and `continue`: what is
 * missing becomes nothing, an attribute of what is missing is an error, values are shown as Python shows them. `{{$…}}` is a JSONPath
 * into all variables that has to find something, and becomes JSON text. Nothing but the variables is in reach, and tags, filters and
 * tests that are not here are refused by name.
 */
export function renderJinja2(template: string, variables: JsonObject, budget: RenderBudget): string {
  return new JinjaInterpreter(variables, budget).render(statementsOf(template))
}

/** Throws a `TemplateFailure` for a template that cannot be read, or that names a filter or a test that there is not, wherever it stands. */
export function readJinja2(template: string): void {
  const open: unknown[] = [...statementsOf(template)]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node !== 'object' || node === null) continue
    if (Array.isArray(node)) {
      for (const item of node) open.push(item)
      continue
    }
    const { kind, name, filter, filters } = node as Named
    if (kind === 'test' && typeof name === 'string') jinjaTest(name)
    for (const { name } of [...(filters ?? []), ...(filter ? [filter] : [])]) jinjaFilter(name)
    for (const member of Object.values(node)) open.push(member)
  }
}

/** What of a node names something that has to be there. */
interface Named {
  readonly kind?: Expression['kind'] | Statement['kind']
  readonly name?: unknown
  readonly filter?: FilterCall
  readonly filters?: readonly FilterCall[]
}

function statementsOf(template: string): readonly Statement[] {
  if (template.includes('\0')) throw new TemplateFailure('A jinja2 template must not hold a NUL character.')
  return parseJinja(template)
}
