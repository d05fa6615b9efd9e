import type { JsonObject } from '../../json/json.ts'
import { renderCurly } from './curly.ts'
import { readFString, renderFString } from './fstring/fstring.ts'
import { readJinja2, renderJinja2 } from './jinja2/jinja2.ts'
import { readMustache, renderMustache } from './mustache.ts'
import { RenderBudget } from './render-budget.ts'
import { TemplateFailure, type TemplateFormat } from './template-format.ts'

/** Characters of a template. */
const LONGEST_TEMPLATE = 1024 * 1024

/**
 * The text that a template makes of the variables (interface 11.21). Throws a `TemplateFailure`, and nothing else, for a
 * template that cannot be read, that asks for what is not there, or that costs more than is left of the budget.
 */
export function renderTemplate(
  format: TemplateFormat,
  template: string,
  variables: JsonObject,
  budget: RenderBudget = new RenderBudget(),
): string {
  return bounded(template, budget, () => ENGINES[format](template, variables, budget))
}

/**
 * Throws a `TemplateFailure` for a template that cannot be rendered whatever the variables are: it cannot be read, or names what there
 * is not.
 */
export function assertReadable(format: TemplateFormat, template: string, budget: RenderBudget): void {
  bounded(template, budget, () => READERS[format](template))
}

function bounded<T>(template: string, budget: RenderBudget, work: () => T): T | '' {
  if (template.length > LONGEST_TEMPLATE) {
    throw new TemplateFailure(
      `The template has ${template.length} characters; at most ${LONGEST_TEMPLATE} are read. Pass long texts as variables.`,
    )
  }
  budget.output(template.length)
  if (template === '') return ''
  try {
    return budget.timed(work)
  } catch (error) {
    if (error instanceof RangeError) {
      throw new TemplateFailure('The template is nested too deeply, or makes a text that is too long.')
    }
    throw error
  }
}

const ENGINES: Readonly<
  Record<TemplateFormat, (template: string, variables: JsonObject, budget: RenderBudget) => string>
> = { mustache: renderMustache, curly: renderCurly, fstring: renderFString, jinja2: renderJinja2 }

const READERS: Readonly<Record<TemplateFormat, (template: string) => void>> = {
  mustache: readMustache,
  // Every text is a curly template: what names nothing is text.
  curly: () => undefined,
  fstring: readFString,
  jinja2: readJinja2,
}
