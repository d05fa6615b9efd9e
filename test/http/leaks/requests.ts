import type { JsonSchema, Operation } from '../../support/clients/api-document.ts'
import type { Known, Side } from './known-things.ts'

/** A request, and the texts in it that say what is sought: an answer may repeat them. */
export interface Sent {
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Every request that an operation takes which names something of a side, in every form, one name at a time. */
export function* requestsOf(operation: Operation, side: Side): Generator<Sent> {
  const { method, path, body, parameters, name, isUpload } = operation
  const things = thingsAt(path, side)
  const paths = [...addresses(path, things, side)]
  const base = { operation: name, method }
  const first = paths[0] ?? path
  const example = bodyOf(operation)
  for (const address of paths)
    yield { ...base, path: address, ...(example === undefined ? {} : { body: example }) }
  const query = parameters.filter((it) => it.in === 'query').map((it) => it.name)
  const sent = example === undefined ? {} : { body: example }
  for (const parameter of query)
    for (const value of inQuery(parameter, things, side))
      yield { ...base, path: `${first}?${parameter}=${encodeURIComponent(value)}`, ...sent }
  if (isUpload) {
    for (const address of paths)
      yield { ...base, path: address, body: 'a\n1\n', headers: { 'content-type': 'text/csv' } }
  } else if (body)
    for (const filled of bodies(body.schema, example, things, side))
      yield { ...base, path: first, body: filled }
}

/** The things that an address is about: of its surface, else of all. */
function thingsAt(path: string, { things }: Side): readonly Known[] {
  const own = things.filter(({ plural }) => path.includes(`/${plural}`))
  return own.length > 0 ? own : things
}

function* addresses(path: string, things: readonly Known[], side: Side): Generator<string> {
  if (!path.includes('{')) return yield path
  const named = path
    .replace('{trace_id}', side.trace)
    .replace('{span_id}', side.span)
    .replace('{key}', 'auto_exact_match')
    .replace('{version}', 'v0')
    .replace('{type}', 'prompt-template')
    .replace('{path}', 'data.json')
  const own = named.startsWith('/traces')
    ? [side.trace]
    : named.startsWith('/evaluations')
      ? [side.evaluation]
      : named.startsWith('/annotations')
        ? [side.annotation]
        : []
  const ids = [
    ...own,
    ...things.flatMap(({ artifact, variant, revision, row = [] }) => [
      ...artifact,
      ...variant,
      ...revision,
      ...row,
    ]),
  ]
  for (const id of new Set(ids)) yield named.replaceAll(/\{[a-z_]+\}/g, encodeURIComponent(id))
}

/** What a parameter of a query string may be: of a dotted one, that member of a reference. */
function inQuery(parameter: string, things: readonly Known[], side: Side): string[] {
  const [name = '', member] = parameter.split('.')
  return valuesOf(name, things, side).flatMap((value) => {
    if (Array.isArray(value)) return [value.join(',')]
    if (!isObject(value)) return [String(value)]
    const only = Object.keys(value).join() === member ? value[member] : undefined
    return only === undefined ? [] : [String(only)]
  })
}

function bodyOf({ method, body, isUpload }: Operation): unknown {
  if (isUpload || method === 'GET' || method === 'DELETE') return undefined
  return body?.example ?? {}
}

/** The bodies that name something at one place each, at most two levels deep. */
function* bodies(
  schema: JsonSchema,
  example: unknown,
  things: readonly Known[],
  side: Side,
): Generator<unknown> {
  const plain = withoutReferences(example)
  const names = new Set(membersOf(schema).map(([name]) => name))
  if (names.has('environment_ref') && names.has('key'))
    for (const key of valuesOf('key', things, side))
      yield { ...plain, environment_ref: { slug: 'production' }, key }
  for (const [name, member] of membersOf(schema)) {
    for (const value of valuesOf(name, things, side)) yield { ...plain, [name]: value }
    for (const [inner] of membersOf(member))
      for (const value of valuesOf(inner, things, side)) {
        const around = plain[name]
        yield { ...plain, [name]: { ...(isObject(around) ? around : {}), [inner]: value } }
      }
  }
}

function membersOf(schema: JsonSchema): [string, JsonSchema][] {
  const parts = [schema, ...(schema.anyOf ?? []), ...(schema.allOf ?? [])]
  return parts.flatMap((part) => Object.entries(part.properties ?? {}))
}

/** The example without what it refers to, so that the name that is tried decides. */
function withoutReferences(example: unknown): Record<string, unknown> {
  if (!isObject(example)) return {}
  const kept = Object.entries(example).filter(([name]) => !/_refs?$|_id$|^references$/.test(name))
  return Object.fromEntries(
    kept.map(([name, value]) => [
      name,
      isObject(value) && name !== 'data' && name !== 'delta' ? withoutReferences(value) : value,
    ]),
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What a member of this name may be that names something: each form of each thing. */
function valuesOf(name: string, all: readonly Known[], side: Side): unknown[] {
  const word = side.things[0]?.artifact[1].split('.')[0] ?? ''
  const surface = /^(workflow|application|evaluator|testset|query|environment)/.exec(name)?.[1]
  const things = side.things.filter(({ singular }) => singular === surface)
  const of = things.length > 0 ? things : all
  const artifacts = of.flatMap(({ artifact: [id, slug] }) => [{ id }, { slug }])
  const variants = of.flatMap(({ variant: [id, slug] }) => [{ id }, { slug }])
  const revisions = of.flatMap(({ revision: [id, tag], variant: [, slug] }) => [
    { id },
    { slug: tag },
    { slug, version: 2 },
  ])
  const application = side.things.find(({ singular }) => singular === 'application')?.artifact[1] ?? ''
  const environment = { slug: 'production' }
  if (surface === 'environment' && /_ref$/.test(name)) return [environment]
  if (/_refs$/.test(name))
    return [/revision/.test(name) ? revisions : /variant/.test(name) ? variants : artifacts].flatMap((them) =>
      them.map((it) => [it]),
    )
  if (/revision(_ref)?$/.test(name) && !/_commit$/.test(name)) return revisions
  if (/variant_ref$/.test(name)) return variants
  if (/_ref$|^artifact$/.test(name)) return artifacts
  if (/revision_id$/.test(name)) return of.map(({ revision: [id] }) => id)
  if (/variant_id$/.test(name)) return of.map(({ variant: [id] }) => id)
  if (/^(artifact|set|workflow|application|evaluator|testset|query)_id$|^id$/.test(name))
    return of.map(({ artifact: [id] }) => id)
  if (/^testcase_ids?$|^ids$/.test(name)) return of.flatMap(({ row }) => (row ? [[row[0]]] : []))
  if (name === 'dedup_id') return of.flatMap(({ row }) => (row ? [row[1]] : []))
  if (/^(source|target|base|head)$/.test(name))
    return [
      ...variants.map((variant) => ({ variant })),
      ...revisions.map((revision) => ({ revision })),
      { environment, key: `${application}.revision` },
    ]
  if (name === 'references')
    return side.things.flatMap(({ singular, artifact: [id, slug], revision: [revision] }) => [
      { [singular]: { id } },
      { [singular]: { slug } },
      { [`${singular}_revision`]: { id: revision } },
      { environment, [singular]: { slug } },
    ])
  if (name === 'key') return [`${application}.revision`]
  if (/^slugs?$|_slug$/.test(name))
    return of.map(({ artifact: [, slug] }) => (name === 'slugs' ? [slug] : slug))
  if (name === 'next')
    return [...of.flatMap(({ artifact: [id], revision: [revision] }) => [id, revision]), side.trace]
  if (name === 'trace_id') return [side.trace]
  if (name === 'trace_ids') return [[side.trace]]
  if (name === 'prompt_id') return [application, `${application}@production`, `${application}@1`]
  if (name === 'from' || name === 'folder') return [word]
  if (/^(query|text|name|contains)$/.test(name)) return [word]
  return []
}
