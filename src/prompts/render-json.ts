import {
  type Json,
  type JsonObject,
  entriesOf,
  fromEntries,
  isJsonArray,
  isJsonObject,
} from '../json/json.ts'
import { renderAt } from './render-at.ts'
import { RenderBudget } from './templates/render-budget.ts'
import { TemplateFailure, type TemplateFormat } from './templates/template-format.ts'

/**
 * A value with each string and each key in it rendered, however deep (interface 11.23: `response_format`, `json_schema`). Throws
 * a `TemplateFailure` that begins with where, and for keys that become the same.
 */
export function renderJson(
  format: TemplateFormat,
  value: Json,
  at: string,
  variables: JsonObject,
  budget: RenderBudget = new RenderBudget(),
): Json {
  const render = (inner: Json, place: string): Json => {
    if (typeof inner === 'string') return renderAt(place, format, inner, variables, budget)
    if (isJsonArray(inner)) return inner.map((item, index) => render(item, `${place}[${index}]`))
    if (!isJsonObject(inner)) return inner
    const members = new Map<string, Json>()
    for (const [key, member] of entriesOf(inner)) {
      const name = renderAt(`${place}.${key}`, format, key, variables, budget)
      if (members.has(name))
        throw new TemplateFailure(`${place}: Two keys become '${name}'; give each another name.`)
      members.set(name, render(member, `${place}.${key}`))
    }
    return fromEntries(members)
  }
  return render(value, at)
}
