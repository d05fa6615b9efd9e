import { boundedJson } from '../../json/bounded-json.ts'
import { type JsonObject, keysOf } from '../../json/json.ts'

/** The four template formats of a prompt (interface 11.21). */
export const TEMPLATE_FORMATS = ['mustache', 'curly', 'fstring', 'jinja2'] as const

/** The language that a template is written in. */
export type TemplateFormat = (typeof TEMPLATE_FORMATS)[number]

/** Why a template could not be rendered, in words for whoever wrote it: `messages[0].content: …`. */
export class TemplateFailure extends Error {
  override readonly name = 'TemplateFailure'
}

/** Names that a failure lists. */
const MOST_NAMES = 30

/** The variables that there are, for a failure about one that is not: in quotes, so that a space before a name can be seen. */
export function variablesThere(variables: JsonObject): string {
  const names = keysOf(variables)
  if (names.length === 0) return 'There are no variables.'
  const shown = names.slice(0, MOST_NAMES).map((name) => boundedJson(name, 80))
  const more = names.length - shown.length
  return `There are the variables ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
}
