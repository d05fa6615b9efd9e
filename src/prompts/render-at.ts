import type { JsonObject } from '../json/json.ts'
import type { RenderBudget } from './templates/render-budget.ts'
import { renderTemplate } from './templates/render-template.ts'
import { TemplateFailure, type TemplateFormat } from './templates/template-format.ts'

/** `renderTemplate`, with the place of the template before the message of its failure (interface 11.23). */
export function renderAt(
  at: string,
  format: TemplateFormat,
  template: string,
  variables: JsonObject,
  budget: RenderBudget,
): string {
  try {
    return renderTemplate(format, template, variables, budget)
  } catch (error) {
    throw error instanceof TemplateFailure ? new TemplateFailure(`${at}: ${error.message}`) : error
  }
}
