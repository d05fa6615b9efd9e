import { applyEdits, findNodeAtLocation, modify, type Node, parseTree } from 'jsonc-parser'

/** A path: keys and indices from the top. */
export type JsonPath = readonly (string | number)[]

/** Why a text is not JSON; undefined if it is. */
export function problemOfJson(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** The text of the value at a path: digits and keys unchanged. Undefined if there is none. */
export function textAt(text: string, path: JsonPath): string | undefined {
  const node = nodeAt(text, path)
  return node && text.slice(node.offset, node.offset + node.length)
}

/** The string at a path; undefined for other values. */
export function stringAt(text: string, path: JsonPath): string | undefined {
  const node = nodeAt(text, path)
  return node?.type === 'string' ? (node.value as string) : undefined
}

/** The length of the array at a path; undefined if there is none. */
export function lengthAt(text: string, path: JsonPath): number | undefined {
  const node = nodeAt(text, path)
  return node?.type === 'array' ? (node.children?.length ?? 0) : undefined
}

/** Sets a value (JSON text) at a path; the rest of the text stays unchanged. Missing objects are created. */
export function withTextAt(text: string, path: JsonPath, value: string): string {
  const found = nodeAt(text, path)
  const placed = found ? text : applyEdits(text, modify(text, [...path], null, {}))
  const node = found ?? nodeAt(placed, path)
  if (!node) return text
  return placed.slice(0, node.offset) + value + placed.slice(node.offset + node.length)
}

/** Removes the value at a path. */
export function withoutAt(text: string, path: JsonPath): string {
  return nodeAt(text, path) ? applyEdits(text, modify(text, [...path], undefined, {})) : text
}

/** The texts of the items of the array at a path. */
export function itemsAt(text: string, path: JsonPath): readonly string[] {
  const node = nodeAt(text, path)
  return node?.type === 'array' ? (node.children ?? []).map((item) => sliceOf(text, item)) : []
}

/** The keys of the object at a path, in order. */
export function keysAt(text: string, path: JsonPath): readonly string[] {
  const node = nodeAt(text, path)
  return node?.type === 'object' ? membersOf(node).map(([key]) => key) : []
}

/** The change between two objects: a delta `{set, remove}` as JSON text, or the whole new object. */
export type JsonChange = { readonly delta: string } | { readonly whole: string } | undefined

/**
 * The smallest change from one object to another, without unchanged places. A delta cannot express another order of keys, nor remove a key with a
 * dot; then the whole object is sent. Undefined if nothing changed.
 */
export function changeOf(base: string, text: string): JsonChange {
  if (base === text) return undefined
  const [from, to] = [treeOf(base), treeOf(text)]
  if (from?.type !== 'object' || to?.type !== 'object') return { whole: text }
  const removed: string[] = []
  const set = setOf({ base, text, removed }, from, to, [])
  if (set === 'cannot be said') return { whole: text }
  if (set === undefined && removed.length === 0) return undefined
  const parts = [
    ...(set === undefined ? [] : [`"set":${set}`]),
    ...(removed.length === 0 ? [] : [`"remove":${JSON.stringify(removed)}`]),
  ]
  return { delta: `{${parts.join(',')}}` }
}

interface Sides {
  readonly base: string
  readonly text: string
  readonly removed: string[]
}

function setOf(sides: Sides, from: Node, to: Node, path: readonly string[]): string | undefined {
  const [old, young] = [membersOf(from), membersOf(to)]
  const before = new Map(old)
  const after = new Map(young)
  const kept = old.filter(([key]) => after.has(key)).map(([key]) => key)
  // A delta keeps the order of keys, and appends new ones.
  const asMerged = [...kept, ...young.filter(([key]) => !before.has(key)).map(([key]) => key)]
  if (asMerged.some((key, at) => key !== young[at]?.[0])) return 'cannot be said'
  const set: string[] = []
  for (const [key, node] of young) {
    const was = before.get(key)
    if (was && isSame(sides, was, node)) continue
    const below =
      was?.type === 'object' && node.type === 'object'
        ? setOf(sides, was, node, [...path, key])
        : sliceOf(sides.text, node)
    if (below === 'cannot be said') return below
    if (below !== undefined) set.push(`${JSON.stringify(key)}:${below}`)
  }
  for (const [key] of old) {
    if (after.has(key)) continue
    if ([...path, key].some((it) => it === '' || it.includes('.'))) return 'cannot be said'
    sides.removed.push([...path, key].join('.'))
  }
  return set.length === 0 ? undefined : `{${set.join(',')}}`
}

/** Whether two values are equal except for white space. */
function isSame({ base, text }: Sides, from: Node, to: Node): boolean {
  if (from.type !== to.type) return false
  if (from.type === 'object' || from.type === 'array') {
    const [old, young] = [from.children ?? [], to.children ?? []]
    return (
      old.length === young.length &&
      old.every((node, at) => {
        const other = young[at]
        if (!other) return false
        if (node.type !== 'property') return isSame({ base, text, removed: [] }, node, other)
        const [key, value] = node.children ?? []
        const [otherKey, otherValue] = other.children ?? []
        return (
          key?.value === otherKey?.value &&
          value !== undefined &&
          otherValue !== undefined &&
          isSame({ base, text, removed: [] }, value, otherValue)
        )
      })
    )
  }
  return from.type === 'string' ? from.value === to.value : sliceOf(base, from) === sliceOf(text, to)
}

function membersOf(node: Node): readonly (readonly [string, Node])[] {
  return (node.children ?? []).flatMap(({ children: [key, value] = [] }) =>
    key && value ? [[key.value as string, value] as const] : [],
  )
}

function nodeAt(text: string, path: JsonPath): Node | undefined {
  const tree = treeOf(text)
  return tree && findNodeAtLocation(tree, [...path])
}

interface Parsed {
  readonly text: string
  readonly tree: Node | undefined
}

/** The last few parsed texts: a form reads many places of one text, and compares it with another one. */
let parsed: readonly Parsed[] = []

function treeOf(text: string): Node | undefined {
  const known = parsed.find((it) => it.text === text) ?? { text, tree: parseTree(text) }
  parsed = [known, ...parsed.filter((it) => it !== known)].slice(0, 4)
  return known.tree
}

function sliceOf(text: string, node: Node): string {
  return text.slice(node.offset, node.offset + node.length)
}
