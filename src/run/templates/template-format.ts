import { boundedJson, type JsonObject, keysOf } from '../../base/json.ts'
import type { TemplateFormat } from './template-variables.ts'

export type { TemplateFormat }

/** The template formats of a prompt. */
export const TEMPLATE_FORMATS: readonly TemplateFormat[] = ['mustache', 'curly', 'fstring', 'jinja2']

/** Why a template could not be rendered, in words for its author: `messages[0].content: …`. */
export class TemplateFailure extends Error {
  override readonly name = 'TemplateFailure'
}

const MAX_NAMES_LISTED = 30

/**
 * A list of the existing variables, for a failure about a missing one. Names are quoted so that leading
 * spaces are visible.
 */
export function variablesThere(variables: JsonObject): string {
  const names = keysOf(variables)
  if (names.length === 0) return 'There are no variables.'
  const shown = names.slice(0, MAX_NAMES_LISTED).map((name) => boundedJson(name, 80))
  const more = names.length - shown.length
  return `There are the variables ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
}
