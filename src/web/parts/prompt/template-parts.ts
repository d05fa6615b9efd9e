import { type TemplateFormat, variablesIn } from '../template/template-variables.ts'
import { embedsIn } from './embeds-in.ts'

/** A piece of a template: words, a variable that is filled in, something that steers (a section, a loop), or what is embedded. */
export interface TemplatePart {
  readonly kind: 'text' | 'variable' | 'control' | 'embed'
  readonly text: string
}

/** More marks than these are not told apart: the rest is one text. */
const MOST = 2000

/** A template, piece by piece; together they are the text. */
export function partsOf(text: string, format: TemplateFormat): readonly TemplatePart[] {
  const embeds = embedsIn(text).map((range) => ({ ...range, kind: 'embed' as const }))
  const variables = variablesIn(text, format)
    .filter(({ from, to }) => !embeds.some((embed) => embed.from < to && from < embed.to))
    .map(({ name, from, to }) => ({
      from,
      to,
      kind: name === '' ? ('control' as const) : ('variable' as const),
    }))
  const marks = [...embeds, ...variables].sort((a, b) => a.from - b.from).slice(0, MOST)
  const parts: TemplatePart[] = []
  let done = 0
  for (const { from, to, kind } of marks) {
    if (from > done) parts.push({ kind: 'text', text: text.slice(done, from) })
    parts.push({ kind, text: text.slice(from, to) })
    done = to
  }
  if (done < text.length) parts.push({ kind: 'text', text: text.slice(done) })
  return parts
}
