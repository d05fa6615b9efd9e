import { type Members, membersOf } from '../../../api/members-of.ts'
import { isEmbed } from '../../../parts/prompt/embed-source.ts'
import type { Message } from '../../../parts/conversation/conversation.tsx'
import { type TemplateFormat, templateFormat } from '../../../parts/template/template-variables.ts'

/** A prompt in a revision's parameters. */
export interface PromptInData {
  /** The keys that lead to it from `data`. */
  readonly keys: readonly string[]
  readonly messages: readonly Message[]
  readonly format: TemplateFormat
  /** What it says beside its messages: model, settings, fallbacks. */
  readonly rest: Members
  readonly tools: readonly unknown[]
}

/** The prompts of a revision: objects below `parameters` that have messages with roles. */
export function promptsOf(data: Members): readonly PromptInData[] {
  const parameters = membersOf(data['parameters'])
  const here = promptAt(parameters, ['parameters'])
  if (here) return [here]
  return Object.entries(parameters).flatMap(
    ([key, value]) => promptAt(membersOf(value), ['parameters', key]) ?? [],
  )
}

/** The keys that a JSON Pointer names, from the top. */
export function keysOfPlace(place: string): readonly string[] {
  return place
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function promptAt(prompt: Members, keys: readonly string[]): PromptInData | undefined {
  const { messages, template_format: format, llm_config: config, ...others } = prompt
  if (!Array.isArray(messages) || !messages.some(isMessage)) return undefined
  const { tools, ...settings } = membersOf(config)
  return {
    keys,
    messages: messages.map((it) =>
      isMessage(it) ? it : { role: isEmbed(it) ? 'embedded' : 'value', content: it },
    ),
    format: templateFormat(typeof format === 'string' ? format : undefined),
    rest: { ...settings, ...(format === undefined ? {} : { template_format: format }), ...others },
    tools: Array.isArray(tools) ? tools : [],
  }
}

function isMessage(value: unknown): value is Message {
  return typeof membersOf(value)['role'] === 'string'
}

/** A parameter as the table shows it. */
export interface ParameterRow {
  readonly name: string
  readonly value: unknown
  /** What the schema says it is. */
  readonly about: string | undefined
  /** Whether it is what the schema has without anybody saying so. */
  readonly isDefault: boolean
}

/** The parameters that are set, and after them those that only the schema has, with their defaults. */
export function parameterRows(parameters: Members, schema: unknown): readonly ParameterRow[] {
  const properties = membersOf(membersOf(schema)['properties'])
  const set = Object.entries(parameters).map(([name, value]) =>
    rowOf(name, value, membersOf(properties[name])),
  )
  const unset = Object.entries(properties).flatMap(([name, property]) => {
    const { default: value } = membersOf(property)
    return name in parameters || value === undefined ? [] : [rowOf(name, value, membersOf(property))]
  })
  return [...set, ...unset]
}

function rowOf(name: string, value: unknown, property: Members): ParameterRow {
  const about = property['description'] ?? property['title']
  return {
    name,
    value,
    about: typeof about === 'string' ? about : undefined,
    isDefault: 'default' in property && JSON.stringify(property['default']) === JSON.stringify(value),
  }
}

/** A text that people write, and its place in `data`. */
export interface PlacedText {
  /** The JSON Pointer in `data`. */
  readonly place: string
  readonly label: string
}

/** Longer strings are texts by themselves, with a file of their own (docs/format.md); shorter ones only where a message says them. */
const LONGEST_INLINE = 120

const NEVER: ReadonlySet<string> = new Set(['url', 'uri', 'role', 'name', 'id', 'type'])

/** The texts of a revision, as the server finds them: what messages say, and what is long or has several lines. */
export function textsOf(data: Members): readonly PlacedText[] {
  const found: PlacedText[] = []
  const within = (value: unknown, keys: readonly (string | number)[], said: string | undefined): void => {
    if (typeof value === 'string') {
      const key = keys.at(-1)
      const isSaid =
        said !== undefined && (key === 'content' || (key === 'text' && keys.at(-3) === 'content'))
      const isLong = value.includes('\n') || [...value.slice(0, 300)].length > LONGEST_INLINE
      if (isSaid || (isLong && !NEVER.has(String(key)))) {
        const place = keys.map((it) => `/${String(it).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
        found.push({ place, label: isSaid ? said : keys.slice(1).join('.') })
      }
    } else if (Array.isArray(value)) {
      for (const [index, member] of value.entries()) {
        const { role } = membersOf(member)
        within(member, [...keys, index], keys.at(-1) === 'messages' && typeof role === 'string' ? role : said)
      }
    } else for (const [key, member] of Object.entries(membersOf(value))) within(member, [...keys, key], said)
  }
  within(data['parameters'], ['parameters'], undefined)
  return found
}
