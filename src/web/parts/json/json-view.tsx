import { useState } from 'react'
import { ExactNumber } from '../../api/json.ts'
import { Fold } from '../text/text.tsx'
import styles from './json-view.module.css'

interface JsonViewProps {
  readonly value: unknown
  /** The number of levels that are open at first. */
  readonly depth?: number
  /** The name of the value. */
  readonly name?: string
}

/** JSON as a tree that opens level by level. Closed levels, and more than a hundred members, are not drawn. */
export function JsonView({ value, depth = 2, name }: JsonViewProps) {
  return (
    <div className={styles.json}>
      <Value value={value} depth={depth} name={name} />
    </div>
  )
}

interface ValueProps {
  readonly value: unknown
  readonly depth: number
  readonly name: string | undefined
}

function Value({ value, depth, name }: ValueProps) {
  if (typeof value === 'object' && value !== null && !(value instanceof ExactNumber))
    return <Members value={value} depth={depth} name={name} />
  return (
    <div className={styles.line}>
      <Key name={name} />
      {typeof value === 'string' ? (
        <span className={styles.text}>
          <Fold text={value} />
        </span>
      ) : (
        <span className={styles.plain}>{String(value)}</span>
      )}
    </div>
  )
}

function Key({ name }: Pick<ValueProps, 'name'>) {
  if (name === undefined) return null
  return (
    <span className={styles.key}>
      <bdi>{name}</bdi>:{' '}
    </span>
  )
}

const PAGE = 100

function Members({ value, depth, name }: ValueProps & { readonly value: object }) {
  const [isOpen, setOpen] = useState(depth > 0)
  const [shown, setShown] = useState(PAGE)
  const members = Object.entries(value)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  if (members.length === 0) {
    return (
      <div className={styles.line}>
        <Key name={name} />
        {open}
        {close}
      </div>
    )
  }
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Key name={name} />
        <span className={styles.size}>
          {open} {members.length.toLocaleString()} {close}
        </span>
      </summary>
      {isOpen && (
        <div className={styles.members}>
          {members.slice(0, shown).map(([key, member]) => (
            <Value key={key} name={key} value={member} depth={depth - 1} />
          ))}
          {members.length > shown && (
            <button type="button" className="text-button" onClick={() => setShown(shown + PAGE)}>
              {(members.length - shown).toLocaleString()} more
            </button>
          )}
        </div>
      )}
    </details>
  )
}

/** Formats JSON with one member a line. Only white space changes: numbers and the order of keys stay. */
export function prettyJson(json: string): string {
  const out: string[] = []
  let depth = 0
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    const before = out.at(-1)
    const isEmpty = (token === '}' && before === '{') || (token === ']' && before === '[')
    if (token === '}' || token === ']') {
      depth--
      if (!isEmpty) out.push(lineStart(depth))
    } else if (before === '{' || before === '[') out.push(lineStart(depth))
    out.push(token)
    if (token === '{' || token === '[') depth++
    if (token === ',') out.push(lineStart(depth))
    if (token === ':') out.push(' ')
  }
  return out.join('')
}

/** Deeper levels are not indented further. */
const DEEPEST = 60

function lineStart(depth: number): string {
  return `\n${'  '.repeat(Math.min(depth, DEEPEST))}`
}
