/** The four template formats of a prompt (contract/handlers 3.1). */
export const TEMPLATE_FORMATS = ['mustache', 'curly', 'fstring', 'jinja2'] as const

/** The language that a template is written in. */
export type TemplateFormat = (typeof TEMPLATE_FORMATS)[number]

/** Why a template could not be rendered, in words for whoever wrote it: `messages[0].content: …`. */
export class TemplateFailure extends Error {
  override readonly name = 'TemplateFailure'
}
