import { partsOf, type TemplateFormat, type TemplatePart } from './template-parts.ts'

/** Where a piece of a template stands that is no plain text: half-open, in UTF-16 units. */
export interface TemplateMark {
  readonly kind: TemplatePart['kind']
  readonly from: number
  readonly to: number
}

/** What of a template is filled in, steers or is embedded, in its order. */
export function marksOf(text: string, format: TemplateFormat): readonly TemplateMark[] {
  const marks: TemplateMark[] = []
  let from = 0
  for (const part of partsOf(text, format)) {
    const to = from + part.text.length
    if (part.kind !== 'text') marks.push({ kind: part.kind, from, to })
    from = to
  }
  return marks
}

/** The names of the inputs that templates ask for, each once: `a` of `{{a.b.0}}`, `{{$.a}}` and `{{ a | upper }}`. */
export function inputNames(templates: readonly string[], format: TemplateFormat): readonly string[] {
  const names = templates.flatMap((text) => partsOf(text, format).flatMap(({ name }) => name ?? []))
  return [...new Set(names.map((name) => inputOf(name, format)))].filter((name) => name !== '')
}

/** `inputs` is all of them: what follows is the name. */
function inputOf(expression: string, format: TemplateFormat): string {
  if (format === 'jinja2') {
    const [first = '', second = ''] = /^[A-Za-z_]\w*(?:\.\w+)?/.exec(expression)?.[0].split('.') ?? []
    return first === 'inputs' ? second : first
  }
  const [first = '', second = ''] = expression.replace(/^\$\.?|^\//, '').split(/[.[\]/]+/)
  return first === 'inputs' ? second : first
}
