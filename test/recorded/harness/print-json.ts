import { type Node, parseTree } from 'jsonc-parser'
import type { Names } from './names.ts'

/** A line of a recording is about so long where it can be. */
const WIDTH = 150

/** Lists and objects as text, in one line or several. */
export interface Printed {
  readonly flat: string
  readonly open?: string
  readonly members?: readonly { readonly key: string; readonly value: Printed }[]
}

/** A value of ours, such as a request, as a JSON text gives it. */
export function printedValue(value: unknown, names: Names, path: readonly string[] = []): Printed {
  return printedJson(JSON.stringify(value) ?? 'null', names, path) ?? { flat: 'null' }
}

/**
 * A JSON text with names in it, letter by letter: numbers, escapes and the order of members stay as they are. Undefined where it is no JSON, or not
 * written in the most compact way, so that the text itself has to be kept.
 */
export function printedJson(text: string, names: Names, path: readonly string[] = []): Printed | undefined {
  const problems: { readonly error: number }[] = []
  const tree = parseTree(text, problems as never, { disallowComments: true, allowTrailingComma: false })
  if (!tree || problems.length > 0 || compact(text, tree) !== text) return undefined
  return printedNode(text, tree, names, path)
}

/** An object of printed members. */
export function printedObject(members: Readonly<Record<string, Printed | undefined>>): Printed {
  const kept = Object.entries(members).flatMap(([key, value]) =>
    value ? [{ key: `${JSON.stringify(key)}: `, value }] : [],
  )
  return {
    flat: `{ ${kept.map(({ key, value }) => key + value.flat).join(', ')} }`,
    open: '{',
    members: kept,
  }
}

/** A text, with names in it. */
export function printedText(text: string): Printed {
  return { flat: JSON.stringify(text) }
}

/** Lines for long texts, so that a difference shows the line. */
export function printedLines(text: string): Printed {
  if (!text.includes('\n')) return printedText(text)
  const members = text.split(/(?<=\n)/).map((line) => ({ key: '', value: printedText(line) }))
  return { flat: `[${members.map(({ value }) => value.flat).join(', ')}]`, open: '[', members }
}

/** The text of it, in one line where it fits. */
export function laidOut(printed: Printed, indent = '', used = 0): string {
  const { flat, open, members = [] } = printed
  if (open === undefined || members.length === 0 || indent.length + used + flat.length <= WIDTH) return flat
  const inner = `${indent} `
  const lines = members.map(({ key, value }) => `${inner}${key}${laidOut(value, inner, key.length)}`)
  return `${open}\n${lines.join(',\n')}\n${indent}${open === '{' ? '}' : ']'}`
}

function printedNode(text: string, node: Node, names: Names, path: readonly string[]): Printed {
  const { type, children = [] } = node
  if (type === 'array') {
    const members = children.map((child) => ({ key: '', value: printedNode(text, child, names, path) }))
    return { flat: `[${members.map(({ value }) => value.flat).join(', ')}]`, open: '[', members }
  }
  if (type === 'object') {
    const members = children.map(({ children: [name, value] = [] }) => {
      const key = name?.value as string
      if (!name || !value) throw new Error('an object whose members have no values')
      return {
        key: `${written(text, name, names.text(key, kindOf(path)))}: `,
        value: printedNode(text, value, names, [...path, key]),
      }
    })
    const flat = members.map(({ key, value }) => key + value.flat).join(', ')
    return { flat: members.length === 0 ? '{}' : `{ ${flat} }`, open: '{', members }
  }
  if (type === 'string') return { flat: written(text, node, names.text(node.value as string, kindOf(path))) }
  if (type === 'number' && isMeasured(path)) return { flat: '"<measured>"' }
  return { flat: text.slice(node.offset, node.offset + node.length) }
}

/** As it stands in the text, unless it has names in it. */
function written(text: string, node: Node, named: string): string {
  return named === node.value ? text.slice(node.offset, node.offset + node.length) : JSON.stringify(named)
}

/** Numbers that a clock made. */
function isMeasured(path: readonly string[]): boolean {
  return path.some((key) => key === 'duration' || key === 'durations') || MEASURED.has(path.at(-1) ?? '')
}

const MEASURED: ReadonlySet<string> = new Set(['duration_ms', 'took_ms', 'latency', 'uptime'])

/** What an id at the end of this way is an id of: `artifact_id` of an artifact, `id` of what it stands in. */
function kindOf(path: readonly string[]): string {
  const last = path.at(-1) ?? 'id'
  const named = /^(?:id|ids)$/.test(last) ? (path.at(-2) ?? 'id') : last.replace(/_ids?$/, '')
  const one = named.replace(/ies$/, 'y').replace(/(?<=[^s])s$/, '')
  return (
    /(?:^|_)(variant|revision)(?:_commit|_ref)?$/.exec(one)?.[1] ??
    one.replaceAll(/[^a-z0-9_.-]/gi, ' ').toLowerCase()
  )
}

function compact(text: string, node: Node): string {
  const { type, children = [] } = node
  if (type === 'array') return `[${children.map((child) => compact(text, child)).join(',')}]`
  if (type === 'object') {
    return `{${children.map(({ children: [name, value] = [] }) => `${name ? compact(text, name) : ''}:${value ? compact(text, value) : ''}`).join(',')}}`
  }
  return text.slice(node.offset, node.offset + node.length)
}
