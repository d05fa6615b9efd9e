import { TextDiff } from '../../parts/diff/text-diff.tsx'
import { itemsAt, prettyJson, stringAt, withoutAt } from '../../parts/json-text/json-text.ts'
import styles from './edit.module.css'
import { promptPlaces, scriptPlace } from './draft/editing.ts'

export interface ChangesProps {
  /** The `data` of the base and of the draft, as JSON text. */
  readonly base: string
  readonly text: string
}

/** What a draft changes of its base: texts as texts, everything else as JSON. */
export function Changes({ base, text }: ChangesProps) {
  const [before, after] = [partsOf(base), partsOf(text)]
  const changed = NAMES.filter((name) => before[name] !== after[name])
  if (changed.length === 0) return <p className={styles.note}>Nothing is changed.</p>
  return (
    <>
      {changed.map((name) => (
        <section key={name} className={styles.change}>
          <h3>{name}</h3>
          <TextDiff label={`What changed: ${name.toLowerCase()}`} base={before[name]} head={after[name]} />
        </section>
      ))}
    </>
  )
}

const NAMES = ['Messages', 'Script', 'Everything else'] as const

function partsOf(text: string): Readonly<Record<(typeof NAMES)[number], string>> {
  const prompt = promptPlaces(text)
  const script = scriptPlace(text)?.script
  const messages = prompt ? itemsAt(text, prompt.messages) : []
  const rest = [prompt?.messages, script].reduce((all, path) => (path ? withoutAt(all, path) : all), text)
  return {
    Messages: messages.map(readable).join('\n'),
    Script: script ? (stringAt(text, script) ?? '') : '',
    'Everything else': prettyJson(['schemas', 'url'].reduce((all, key) => withoutAt(all, [key]), rest)),
  }
}

/** A message as text; with all that it holds where it holds more. */
function readable(message: string): string {
  const role = stringAt(message, ['role']) ?? '?'
  const content = stringAt(message, ['content'])
  const rest = withoutAt(content === undefined ? message : withoutAt(message, ['content']), ['role'])
  const isPlain = /^\{\s*\}$/.test(rest)
  return [`── ${role} ──`, content ?? '', ...(isPlain ? [] : [prettyJson(rest)]), ''].join('\n')
}
