import { useAddress } from '../../shell/places.ts'
import { useEffect, useRef } from 'react'
import { type Members, membersOf, ExactNumber } from '../../api/json.ts'
import { Conversation, type Message } from '../conversation/conversation.tsx'
import { JsonView } from '../json/json-view.tsx'
import { Embed, isEmbed, PromptText, withoutEmbeds } from '../prompt/prompt-text.tsx'
import { Empty } from '../states/states.tsx'
import { Table } from '../table/table.tsx'
import {
  type TemplateFormat,
  variableNames,
  templateFormat,
} from '../../../run/templates/template-variables.ts'
import { CodeLines } from '../text/text.tsx'
import styles from './content.module.css'

/** The content of a revision: prompts as conversations, code as code, other values by name. `?place=`, a JSON Pointer, scrolls to a part. */
export function ContentView({
  data,
  isBrief = false,
}: {
  readonly data: Members
  /** Leaves out what runs a prompt, and its schemas. */
  readonly isBrief?: boolean
}) {
  const { place = '' } = useAddress()
  const content = useRef<HTMLDivElement>(null)
  const marked = keysOfPlace(place)
  useEffect(
    () => content.current?.querySelector('[aria-current=location]')?.scrollIntoView({ block: 'center' }),
    [place],
  )
  const { script, schemas = {}, parameters } = data
  const prompts = promptsOf(data)
  const schema = membersOf(schemas)['parameters']
  const isWhole = prompts.some(({ keys }) => keys.length === 1)
  const shown = new Set(prompts.map(({ keys }) => keys[1]))
  const others = isWhole
    ? []
    : parameterRows(membersOf(parameters), schema).filter(({ name }) => !shown.has(name))
  const contracts = Object.entries(membersOf(schemas))
  const isShort = isBrief && prompts.length > 0
  if (Object.keys(data).length === 0) return <Empty>This version holds no data.</Empty>
  return (
    <div ref={content} className={styles.content}>
      {prompts.map((prompt) => (
        <PromptView
          key={prompt.keys.join('.')}
          prompt={prompt}
          schema={schema}
          isOnly={prompts.length === 1}
          marked={
            prompt.keys.every((key, at) => marked[at] === key) ? marked.slice(prompt.keys.length) : undefined
          }
        />
      ))}
      {typeof script === 'string' && (
        <section aria-current={marked[0] === 'script' ? 'location' : undefined}>
          <h2>Script</h2>
          <CodeLines label="Script" text={script} />
        </section>
      )}
      {others.length > 0 && (
        <section>
          <h2>Parameters</h2>
          <ParameterTable caption="Parameters" rows={others} marked={marked[1]} />
        </section>
      )}
      {!isShort && <WhereItRuns data={data} />}
      {!isShort && contracts.length > 0 && (
        <section>
          <h2>Schemas</h2>
          {contracts.map(([name, value]) => (
            <JsonView key={name} name={name} value={value} depth={0} />
          ))}
        </section>
      )}
    </div>
  )
}

/** What runs the workflow: a handler, a script, or an external server with these headers. */
function WhereItRuns({ data: { uri, url, runtime, headers } }: { readonly data: Members }) {
  const sent = Object.entries(membersOf(headers))
  const facts = [
    ['Handler', uri],
    ['Runtime', runtime],
    ['Address', url],
  ].filter((fact): fact is [string, string] => typeof fact[1] === 'string')
  if (facts.length === 0 && sent.length === 0) return null
  return (
    <section>
      <h2>Handler</h2>
      <dl className={styles.facts}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <code>{value.slice(0, 2000)}</code>
            </dd>
          </div>
        ))}
      </dl>
      {sent.length > 0 && (
        <Table
          caption="Headers that are sent"
          rows={sent}
          keyOf={([name]) => name}
          columns={[
            { name: 'Header', cell: ([name]) => <code>{name}</code> },
            { name: 'Value', cell: ([, value]) => <Header value={value} /> },
          ]}
        />
      )}
    </section>
  )
}

function Header({ value }: { readonly value: unknown }) {
  const { secret } = membersOf(value)
  if (typeof secret === 'string') return <>the secret {secret}</>
  return <code>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
}

interface PromptViewProps {
  readonly prompt: PromptInData
  /** The schema of the parameters. */
  readonly schema: unknown
  readonly isOnly: boolean
  /** The rest of the path that a link points to, inside of the prompt. */
  readonly marked?: readonly string[] | undefined
}

/** More messages are only in the JSON. */
const MOST_MESSAGES = 100

/** A prompt: its messages with their variables, its model and settings, its tools. */
function PromptView({
  prompt: { keys, messages, format, rest, tools },
  schema,
  isOnly,
  marked: [part, under] = [],
}: PromptViewProps) {
  const texts = messages.flatMap(({ content }) => (typeof content === 'string' ? content : []))
  const variables = variableNames(
    texts.map((text) => withoutEmbeds(text.slice(0, 100_000))),
    format,
  )
  const message = part === 'messages' ? Number(under) : undefined
  const most = Math.max(MOST_MESSAGES, (message ?? 0) + 1)
  const property = membersOf(membersOf(membersOf(schema)['properties'])[keys.at(-1) ?? ''])
  return (
    <section>
      {!isOnly && <h2>{keys.slice(1).join('.')}</h2>}
      <Conversation
        messages={messages.slice(0, most)}
        marked={message}
        text={(text) => <PromptText text={text} format={format} />}
        value={(value) => (isEmbed(value) ? <Embed of={value} /> : undefined)}
      />
      {messages.length > most && (
        <p className="muted-small">{messages.length - most} more messages are in the JSON.</p>
      )}
      {variables.length > 0 && (
        <p className={styles.variables}>
          <span className="muted-small">Variables:</span>
          {variables.slice(0, 50).map((name) => (
            <code key={name} dir="auto">
              {name}
            </code>
          ))}
        </p>
      )}
      <h3 className={styles.part}>Model and settings</h3>
      <ParameterTable
        caption="Model and settings"
        rows={parameterRows(rest, property)}
        format={format}
        marked={part === 'llm_config' ? under : part}
      />
      {tools.length > 0 && (
        <>
          <h3 className={styles.part}>Tools</h3>
          <ul className={styles.tools}>
            {tools.slice(0, MOST_MESSAGES).map((tool, at) => (
              <li key={at}>
                <JsonView name={nameOf(tool)} value={tool} depth={0} />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

function nameOf(tool: unknown): string {
  const { name, function: called, type } = membersOf(tool)
  return String(membersOf(called)['name'] ?? name ?? type ?? 'tool').slice(0, 100)
}

interface ParameterTableProps {
  readonly caption: string
  readonly rows: readonly ParameterRow[]
  readonly format?: TemplateFormat
  /** The name that a link points to. */
  readonly marked?: string | undefined
}

/** More rows are only in the JSON. */
const MOST_PARAMETERS = 200

/** Settings by name. Defaults of the schema are dimmed. */
function ParameterTable({ caption, rows, format = 'curly', marked }: ParameterTableProps) {
  return (
    <div className={styles.parameters}>
      <Table
        caption={caption}
        rows={rows.slice(0, MOST_PARAMETERS)}
        keyOf={({ name }) => name}
        isMarked={({ name }) => name === marked}
        columns={[
          {
            name: 'Name',
            cell: ({ name, about, isDefault }) => (
              <span className={isDefault ? styles.default : undefined} title={about}>
                <code>{name.slice(0, 200)}</code>
              </span>
            ),
          },
          {
            name: 'Value',
            cell: ({ value, isDefault }) => (
              <span className={isDefault ? styles.default : undefined}>
                <ParameterValue value={value} format={format} /> {isDefault && <i>default</i>}
              </span>
            ),
          },
        ]}
      />
      {rows.length > MOST_PARAMETERS && (
        <p className="muted-small">{rows.length - MOST_PARAMETERS} more are in the JSON.</p>
      )}
    </div>
  )
}

function ParameterValue({ value, format }: { readonly value: unknown; readonly format: TemplateFormat }) {
  if (typeof value === 'string')
    return value === '' ? <i>empty</i> : <PromptText text={value} format={format} />
  if (isEmbed(value)) return <Embed of={value} />
  if (typeof value === 'object' && value !== null && !(value instanceof ExactNumber))
    return <JsonView value={value} depth={Object.keys(value).length <= 6 ? 2 : 0} />
  return <code>{String(value)}</code>
}

/** A prompt in a revision's parameters. */
interface PromptInData {
  /** The path from `data`. */
  readonly keys: readonly string[]
  readonly messages: readonly Message[]
  readonly format: TemplateFormat
  /** Everything but the messages: model, settings, fallbacks. */
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

/** The keys of a JSON Pointer. */
function keysOfPlace(place: string): readonly string[] {
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

/** A row of the table of parameters. */
interface ParameterRow {
  readonly name: string
  readonly value: unknown
  /** The description in the schema. */
  readonly about: string | undefined
  /** Whether it is the schema's default. */
  readonly isDefault: boolean
}

/** The parameters that are set, then the schema's other ones with their defaults. */
function parameterRows(parameters: Members, schema: unknown): readonly ParameterRow[] {
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

/** A text, and its place in `data`. */
interface PlacedText {
  /** The JSON Pointer in `data`. */
  readonly place: string
  readonly label: string
}

/** Longer strings are stored as files of their own (docs/format.md); shorter ones only in messages. */
const LONGEST_INLINE = 120

const NEVER: ReadonlySet<string> = new Set(['url', 'uri', 'role', 'name', 'id', 'type'])

/** The texts of a revision, as the server finds them: messages, long strings, and strings of several lines. */
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
