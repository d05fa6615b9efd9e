import { Conversation } from '../../../parts/conversation/conversation.tsx'
import { JsonView } from '../../../parts/json/json-view.tsx'
import { Embed } from '../../../parts/prompt/embed.tsx'
import { isEmbed } from '../../../parts/prompt/embed-source.ts'
import { PromptText } from '../../../parts/prompt/prompt-text.tsx'
import { variableNames } from '../../../parts/template/template-variables.ts'
import { membersOf } from '../../../api/members-of.ts'
import { parameterRows, type PromptInData } from './data-of.ts'
import { ParameterTable } from './parameter-table.tsx'
import styles from '../revision.module.css'

export interface PromptViewProps {
  readonly prompt: PromptInData
  /** Of the parameters. */
  readonly schema: unknown
  readonly isOnly: boolean
  /** The keys, below the prompt's own, of what a link leads to. */
  readonly marked?: readonly string[] | undefined
}

/** Messages past these are among the JSON. */
const MOST = 100

/** A prompt: its messages with their variables, its model and settings, its tools. */
export function PromptView({
  prompt: { keys, messages, format, rest, tools },
  schema,
  isOnly,
  marked: [part, under] = [],
}: PromptViewProps) {
  const texts = messages.flatMap(({ content }) => (typeof content === 'string' ? content : []))
  const variables = variableNames(
    texts.map((text) => text.slice(0, 100_000)),
    format,
  )
  const message = part === 'messages' ? Number(under) : undefined
  const most = Math.max(MOST, (message ?? 0) + 1)
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
        <p className={styles.muted}>{messages.length - most} more messages are in the JSON.</p>
      )}
      {variables.length > 0 && (
        <p className={styles.variables}>
          <span className={styles.muted}>Variables:</span>
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
            {tools.slice(0, MOST).map((tool, at) => (
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
