import type { JsonObject } from '../../../json/json.ts'
import { JinjaInterpreter } from './jinja-interpreter.ts'
import { jinja } from './jinja-library.ts'
import { jinjaEnvironment } from './jinja-values.ts'
import type { RenderBudget } from '../render-budget.ts'
import { resolvePath } from '../resolve-path.ts'
import { TemplateFailure } from '../template-format.ts'
import { valueText } from '../value-text.ts'

/**
 * Renders Jinja2 (contract/handlers 3.1): what is missing becomes nothing, an attribute of what is missing is an error, values are
 * shown as Python shows them, and as JSON by `|tojson`. `{{$…}}` is a JSONPath into all variables that has to find something, and
 * becomes JSON text. One newline at the end is dropped. Nothing but the variables is in reach.
 */
export function renderJinja2(template: string, variables: JsonObject, budget: RenderBudget): string {
  if (template.includes('\0')) throw new TemplateFailure('A jinja2 template must not hold a NUL character.')
  const masked = mask(template)
  const unmasked = (name: string): string | undefined => {
    const hidden = masked.hidden.get(name)
    return hidden?.path === undefined ? hidden?.text : selected(hidden.path, variables)
  }
  try {
    const interpreter = new JinjaInterpreter(jinjaEnvironment(variables, budget), unmasked, budget)
    return interpreter.render(jinja.parse(jinja.tokenize(masked.template)))
  } catch (error) {
    // what the library cannot read or do, it says in an ordinary error
    if (!(error instanceof Error) || error instanceof TemplateFailure || error instanceof RangeError)
      throw error
    throw new TemplateFailure(`The jinja2 template cannot be rendered: ${error.message}.`)
  }
}

/** What the library cannot read, by the variable that stands for it: a raw block's text, or a JSONPath. */
type Hidden = ReadonlyMap<string, { readonly text?: string; readonly path?: string }>

/** Comments come first, so that nothing inside one counts. What is not closed goes to the end, so that no place is looked at twice. */
const UNREADABLE =
  /\{#.*?(?:#\}|$)|\{%(?<before>[-+]?)\s*raw\s*(?<start>[-+]?)%\}(?<raw>.*?)(?:\{%(?<end>[-+]?)\s*endraw\s*(?<after>[-+]?)%\}|(?<open>$))|\{\{(?<left>-?)\s*(?<path>\$.*?)(?<right>-?)(?:\}\}|(?<unclosed>$))/gsu

function mask(template: string): { readonly template: string; readonly hidden: Hidden } {
  let prefix = 'hidden_'
  while (template.includes(prefix)) prefix += '_'
  const hidden = new Map<string, { text?: string; path?: string }>()
  const masked = template.replace(UNREADABLE, (...match) => {
    // the groups are the last argument of a replacer whose pattern names some
    const { raw, path, ...parts } = match.at(-1) as Readonly<Record<string, string | undefined>>
    if (parts['open'] !== undefined)
      throw new TemplateFailure('A raw block is not closed; write {% endraw %}.')
    if (parts['unclosed'] !== undefined)
      throw new TemplateFailure('A {{$ is not closed; write }} behind the path.')
    const name = `${prefix}${hidden.size}`
    if (path !== undefined) {
      hidden.set(name, { path: path.trim() })
      return `{{${parts['left'] ?? ''} ${name} ${parts['right'] ?? ''}}}`
    }
    // a comment: the library drops it
    if (raw === undefined) return String(match[0])
    hidden.set(name, { text: trimmed(raw, parts['start'] === '-', parts['end'] === '-') })
    return `{{${dash(parts['before'])} ${name} ${dash(parts['after'])}}}`
  })
  return { template: masked, hidden }
}

function trimmed(text: string, start: boolean, end: boolean): string {
  const begun = start ? text.trimStart() : text
  return end ? begun.trimEnd() : begun
}

function dash(control: string | undefined): string {
  return control === '-' ? '-' : ''
}

function selected(path: string, variables: JsonObject): string {
  const value = resolvePath(path, variables)
  if (value === undefined) throw new TemplateFailure(`The JSONPath {{${path}}} finds nothing.`)
  return valueText(value)
}
