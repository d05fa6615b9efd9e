import { type FoundInText, LONGEST_TOKEN } from './long-embeds.ts'
import { mergeReferenceItems, type ReferenceItem } from '../merge-reference-items.ts'
import { isReferenceField } from '../reference-of-fields.ts'

const OPEN = '@{{'
const CLOSE = '}}'
const ENTITY = /^(?:workflow|application|evaluator|environment)(?:_artifact|_variant|_revision)?$/
/** What a token takes that names no path: the first message of a prompt. */
const DEFAULT_PATH = 'prompt.messages.0.content'

/**
 * The form C tokens of a text, in order, and undefined for what only looks like one: `@{{workflow.slug=a, path=b}}` (interface 10.4).
 * A token ends at the first `}}`; one that is never closed swallows the rest of the text. Without a valid reference it is mere text, as
 * `@{{name}}`. Each character is looked at a few times at most, whatever the text.
 */
export function* shortEmbeds(text: string): Generator<FoundInText | undefined> {
  let offset = text.indexOf(OPEN)
  while (offset >= 0) {
    const end = text.indexOf(CLOSE, offset + OPEN.length)
    if (end < 0) break
    const isShort = end - offset < LONGEST_TOKEN
    const read = isShort ? readContent(text.slice(offset + OPEN.length, end)) : undefined
    yield read && { form: 'short', ...read, text: text.slice(offset, end + CLOSE.length), offset }
    offset = text.indexOf(OPEN, end + CLOSE.length)
  }
}

function readContent(content: string): Pick<FoundInText, 'references' | 'selector'> | undefined {
  const items: ReferenceItem[] = []
  let key: string | undefined
  let path = DEFAULT_PATH
  for (const item of content.split(/[,&]/)) {
    const [left, value] = splitItem(item)
    if (left === 'key') key = value
    else if (left === 'path') path = value
    else {
      const dot = left.lastIndexOf('.')
      const type = left.slice(0, Math.max(dot, 0)).trim()
      const field = left.slice(dot + 1).trim()
      if (ENTITY.test(type) && isReferenceField(field)) items.push({ type, field, value })
    }
  }
  const references = mergeReferenceItems(items)
  return (
    references && {
      references,
      selector: { ...(key === undefined ? {} : { key }), ...(path === '' ? {} : { path }) },
    }
  )
}

/** Both sides of `=`, else of `:`, trimmed; without either there is no left side. */
function splitItem(item: string): [left: string, value: string] {
  const equals = item.indexOf('=')
  const at = equals < 0 ? item.indexOf(':') : equals
  return at < 0 ? ['', ''] : [item.slice(0, at).trim(), item.slice(at + 1).trim()]
}
