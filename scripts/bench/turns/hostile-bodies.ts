import type { JsonSchema, Operation } from '../../../test/support/clients/api-document.ts'
import { hostileDeltas, hostilePayloads } from './hostile-payloads.ts'
import { HOSTILE_VALUES, inside, list, type MakeText, numbered } from './hostile-values.ts'

/** A body of about so many bytes, and what it is. */
export interface HostileBody {
  readonly shape: string
  readonly make: MakeText
}

/** Those that stand for the others where every route does the same with them. */
const FEW_VALUES = Object.entries(HOSTILE_VALUES).filter(([name]) =>
  ['many {}', 'deep nests', 'long text'].includes(name),
)

type Schemas = Readonly<Record<string, JsonSchema>>

/** A place in a body where a client may send as much as it likes. */
export interface Place {
  readonly path: readonly string[]
  readonly schema: JsonSchema
}

/**
 * Bodies of every hostile shape at every place that the document leaves to the client, the rest as `example`; and whole bodies that are
 * no request.
 */
export function hostileBodies(
  operation: Operation,
  surface: string,
  schemas: Schemas,
  example: object,
): HostileBody[] {
  if (!operation.body) return []
  return [
    ...FEW_VALUES.map(([name, make]) => ({
      shape: `unknown member of ${name}`,
      make: inside('unknown', make),
    })),
    { shape: 'unknown members', make: (bytes) => HOSTILE_VALUES['many keys']?.(bytes) ?? '' },
    ...placesIn(operation, surface, schemas, example).flatMap(({ path, schema }) =>
      Object.entries(shapesAt(path, schema, surface, operation)).map(([name, make]) => ({
        shape: `${path.join('.')} of ${name}`,
        make: at(example, path, make),
      })),
    ),
  ]
}

/** The places of an operation's body that the document leaves to the client. */
export function placesIn(
  { body }: Operation,
  surface: string,
  schemas: Schemas,
  example: object,
): readonly Place[] {
  return body ? placesOf(body.schema, schemas, wordsOf(surface, example)) : []
}

/** The members of the envelope that speak of another surface say nothing new. */
function wordsOf(surface: string, example: object): (key: string) => boolean {
  const others = ['workflow', 'application', 'evaluator', 'testset', 'environment', 'query']
  const own = surface === 'queries' ? 'query' : surface.slice(0, -1)
  return (key) => key in example || key.startsWith(own) || !others.some((word) => key.startsWith(word))
}

function placesOf(
  schema: JsonSchema,
  schemas: Schemas,
  wanted: (key: string) => boolean,
  path: readonly string[] = [],
): Place[] {
  const name = schema.$ref?.split('/').at(-1)
  const { type, properties, items } = name === undefined ? schema : (schemas[name] ?? schema)
  if (properties && path.length < 4) {
    return Object.entries(properties).flatMap(([key, member]) =>
      path.length > 0 || wanted(key) ? placesOf(member, schemas, wanted, [...path, key]) : [],
    )
  }
  if (type === 'string' && schema.format !== undefined) return []
  if (type === undefined || type === 'object' || type === 'string' || (type === 'array' && items))
    return [{ path, schema }]
  return []
}

function shapesAt(
  path: readonly string[],
  schema: JsonSchema,
  surface: string,
  { path: route }: Operation,
): Readonly<Record<string, MakeText>> {
  const key = path.at(-1)
  const text = HOSTILE_VALUES['long text'] ?? String
  if (schema.type === 'string') return { 'long text': text }
  if (schema.type === 'array') return { 'many items': (bytes) => items(schema.items ?? {}, bytes) }
  const isPayload = path.length === 2 && !route.startsWith('/services') && !route.startsWith('/evaluations')
  if (key === 'data' && isPayload) return hostilePayloads(surface)
  if (key === 'delta' && isPayload) return hostileDeltas(surface)
  if (key === 'filtering') return hostilePayloads('queries')
  const keys = (bytes: number): string => numbered((number) => `"k${number}":true`, bytes, '{', '}')
  if (schema.type === 'object' && schema.additionalProperties !== undefined) return { 'many keys': keys }
  const values = FEW_VALUES.map(([name, make]) => [name, inside('x', make)] as const)
  return { 'many keys': keys, ...Object.fromEntries(values) }
}

function items({ type, $ref, enum: words }: JsonSchema, bytes: number): string {
  if ($ref?.endsWith('/Reference')) return numbered((number) => `{"slug":"s${number}"}`, bytes)
  if (words) return list(JSON.stringify(words[0]), bytes)
  if (type === 'string') return numbered((number) => `"s${number}"`, bytes)
  return list('{}', bytes)
}

/** The example with something else at one place. */
export function at(example: object, path: readonly string[], make: MakeText): MakeText {
  const copy = structuredClone(example) as Record<string, unknown>
  let inner = copy
  for (const key of path.slice(0, -1)) {
    const next = inner[key]
    inner[key] = typeof next === 'object' && next !== null ? next : {}
    inner = inner[key] as Record<string, unknown> // just put there
  }
  if (path.includes('delta')) delete inner.data
  const mark = '@@hostile@@'
  inner[path.at(-1) ?? ''] = mark
  const [before = '', after = ''] = JSON.stringify(copy).split(`"${mark}"`)
  return (bytes) => before + make(Math.max(64, bytes - before.length - after.length)) + after
}
