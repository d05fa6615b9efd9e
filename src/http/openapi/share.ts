import type { InSlices } from '../../base/scheduling.ts'
import type { JsonSchema } from './json-schema.ts'
import { isValue } from './schemas-in.ts'

/** The named parts of a document by kind: OpenAPI's `components`. */
export interface Components {
  readonly schemas: Record<string, JsonSchema>
  readonly parameters: Record<string, unknown>
  readonly responses: Record<string, unknown>
}

/** Shorter parts stay inline: a reference would not be shorter. */
const LEAST_CHARACTERS = 64

/**
 * Replaces every schema, parameter and response that occurs several times in the paths or components by a
 * reference to `components`, where it is added under a name made from its first place. Yields after each path
 * and component.
 */
export function* share(
  paths: Readonly<Record<string, object>>,
  components: Components,
): InSlices<Record<string, unknown>> {
  const counts = new Map<string, number>()
  const references = new Map<string, object>()
  const named = Object.entries(components.schemas)
  for (const [name, schema] of [...named, ...Object.entries(paths)]) {
    countMembers(schema, [name])
    yield
  }
  for (const [name, schema] of named) {
    components.schemas[name] = members(schema, [name]) as JsonSchema
    yield
  }
  const sharing: Record<string, unknown> = {}
  for (const [path, methods] of Object.entries(paths)) {
    sharing[path] = members(methods, [path])
    yield
  }
  return sharing

  /** The content of a repeated part is not counted again: it is shared with that part. */
  function count(value: unknown, way: readonly string[]): void {
    if (typeof value !== 'object' || value === null) return
    const kind = kindOf(value, way)
    if (kind) {
      const text = JSON.stringify(value)
      const before = counts.get(text) ?? 0
      counts.set(text, before + 1)
      // Also name the schema of a shared response, so that clients get one class for it.
      if (before > 0 && kind !== 'responses') return
    }
    countMembers(value, way)
  }

  function countMembers(value: object, way: readonly string[]): void {
    for (const [key, member] of Object.entries(value)) if (!isValue(key, way)) count(member, [...way, key])
  }

  function shared(value: unknown, way: readonly string[]): unknown {
    if (typeof value !== 'object' || value === null) return value
    const kind = kindOf(value, way)
    if (!kind) return members(value, way)
    const text = JSON.stringify(value)
    if (text.length < LEAST_CHARACTERS || (counts.get(text) ?? 0) < 2) return members(value, way)
    const known = references.get(text)
    if (known) return known
    const named = components[kind]
    const name = freeName(kind === 'parameters' ? [pascal(nameOf(value))] : namesOf(way, kind), named)
    const reference = { $ref: `#/components/${kind}/${name}` }
    references.set(text, reference)
    named[name] = {} // reserves the name before its content needs one
    named[name] = members(value, way) as JsonSchema
    return reference
  }

  function members(value: object, way: readonly string[]): unknown {
    if (Array.isArray(value)) return value.map((item, index) => shared(item, [...way, String(index)]))
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [
        key,
        isValue(key, way) ? member : shared(member, [...way, key]),
      ]),
    )
  }
}

function kindOf(value: object, way: readonly string[]): 'schemas' | 'parameters' | 'responses' | undefined {
  if (way.at(-2) === 'parameters') return 'in' in value ? 'parameters' : undefined
  if (way.at(-2) === 'responses') return 'content' in value ? 'responses' : undefined
  const { type, anyOf, oneOf, allOf } = value as Readonly<Record<string, unknown>>
  return typeof type === 'string' || [type, anyOf, oneOf, allOf].some(Array.isArray) ? 'schemas' : undefined
}

/**
 * The candidate names of a part: `ApplicationRevisionCommit` from its member; `ApplicationsQueryAnswer` from
 * its body.
 */
function namesOf(way: readonly string[], kind: string): readonly string[] {
  const [path = ''] = way
  const member = way.lastIndexOf('properties') + 1
  const part = ['requestBody', 'responses', 'parameters'].find((it) => way.includes(it)) ?? ''
  const ofMember = member > 0 ? [pascal(way[member] ?? ''), pascal(`${path}/${way[member] ?? ''}`)] : []
  return [...ofMember, pascal(kind === 'responses' ? path : `${path}/${PARTS[part] ?? 'part'}`)]
}

/** The first free name, or the last one with a number. */
function freeName(names: readonly string[], taken: Readonly<Record<string, unknown>>): string {
  const free = names.find((name) => taken[name] === undefined)
  if (free !== undefined) return free
  const last = names.at(-1) ?? ''
  for (let number = 2; ; number++) if (taken[`${last}${number}`] === undefined) return `${last}${number}`
}

function nameOf(parameter: object): string {
  return 'name' in parameter ? String(parameter.name) : ''
}

const PARTS: Readonly<Record<string, string>> = {
  requestBody: 'request',
  responses: 'answer',
  parameters: 'parameter',
}

function pascal(text: string): string {
  const words = text.replaceAll(/\{\w+\}/g, '').split(/[^A-Za-z0-9]+/)
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')
}

/**
 * Sorts components so that each follows those it refers to: client generators read them from top to bottom.
 */
export function inOrderOfReference<T>(named: Readonly<Record<string, T>>): Record<string, T> {
  const placed = new Map<string, T>()
  const seen = new Set<string>()
  const place = (name: string): void => {
    const schema = named[name]
    if (schema === undefined || seen.has(name)) return
    seen.add(name)
    for (const [, other = ''] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g))
      place(other)
    placed.set(name, schema)
  }
  for (const name of Object.keys(named)) place(name)
  return Object.fromEntries(placed)
}
