import fc from 'fast-check'
import type { ApiDocument, Operation, Parameter } from '../../../../test/support/clients/api-document.ts'
import { arbitraryFile, type UploadedBytes } from './arbitrary-file.ts'
import { arbitraryJunk, arbitraryText } from './arbitrary-junk.ts'
import { arbitraryValue, type ValueContext } from './arbitrary-value.ts'
import type { KnownThings } from '../known-things.ts'

/** Who asks: a key with one scope, with all, with none that is known, or nobody. */
export const CALLERS = ['read', 'write', 'deploy', 'invoke', 'admin', 'stranger', 'nobody'] as const

export type CallerName = (typeof CALLERS)[number]

/** A request as it goes out. */
export interface FuzzedRequest {
  readonly operation: Operation
  readonly caller: CallerName
  /** Path and query string, encoded. */
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | FormData | undefined
}

/** Requests of every operation of the document, each as often. `known` is looked into when a request is made. */
export function arbitraryRequest(document: ApiDocument, known: KnownThings): fc.Arbitrary<FuzzedRequest> {
  return fc.oneof(
    ...document.operations.flatMap((operation) =>
      [true, false].map((isCalm) => requestOf(operation, document, { known, isCalm })),
    ),
  )
}

function requestOf(
  operation: Operation,
  { schemas }: ApiDocument,
  { known, isCalm }: Pick<ValueContext, 'known' | 'isCalm'>,
): fc.Arbitrary<FuzzedRequest> {
  const context = { schemas, known, isCalm, path: operation.path }
  return fc
    .record({
      caller: arbitraryCaller,
      address: arbitraryAddress(operation, context),
      headers: isCalm ? fc.constant({}) : arbitraryHeaders(known),
      body: operation.isUpload ? arbitraryFile : arbitraryBody(operation, context),
    })
    .map(({ caller, address, headers, body }) => {
      const { content, type } = body ?? { content: undefined, type: undefined }
      return {
        operation,
        caller,
        address,
        headers: { ...headers, ...(type === undefined ? {} : { 'content-type': type }) },
        body: content,
      }
    })
}

const arbitraryCaller = fc.oneof<fc.WeightedArbitrary<CallerName>[]>(
  { weight: 14, arbitrary: fc.constant('admin') },
  { weight: 5, arbitrary: fc.constantFrom('read', 'write', 'deploy', 'invoke') },
  { weight: 1, arbitrary: fc.constantFrom(...CALLERS) },
)

function arbitraryAddress({ path, parameters }: Operation, context: ValueContext): fc.Arbitrary<string> {
  const inPath = parameters.filter((it) => it.in === 'path')
  const inQuery = parameters.filter((it) => it.in === 'query')
  const segments = fc.tuple(...inPath.map((parameter) => arbitraryParameter(parameter, context)))
  const query = fc.tuple(
    ...inQuery.map((parameter) =>
      fc.tuple(fc.constant(parameter.name), fc.nat(9), arbitraryParameter(parameter, context)),
    ),
  )
  const style = fc.tuple(fc.constantFrom('', '', '', '/api', '/api'), fc.constantFrom('', '', '/'))
  return fc.tuple(segments, query, style).map(([values, chosen, [prefix, slash]]) => {
    let at = 0
    const filled = path.replaceAll(/\{\w+\}/g, () => segmentOf(values[at++] ?? ''))
    const wanted = chosen
      .filter(([name, dice]) => dice < oftenInQuery(name, context))
      .map(([name, , value]): [string, string] => [name, wellFormed(value)])
    const search = wanted.length === 0 ? '' : `?${new URLSearchParams(wanted)}`
    return prefix + filled + slash + search
  })
}

/** Out of ten: of the references of a GET form, one alone is what a client sends. */
function oftenInQuery(name: string, { path, isCalm }: ValueContext): number {
  if (name === 'testcase_ids' || name === 'trace_ids') return 9
  if (!name.includes('.')) return isCalm ? 1 : 2
  const surface = path.split('/')[1] ?? ''
  const isOwn = name.startsWith(surface.replace(/ies$/, 'y').replace(/s$/, ''))
  return isOwn && /_ref\.id$/.test(name) ? 4 : isCalm ? 0 : 1
}

function arbitraryParameter(parameter: Parameter, context: ValueContext): fc.Arbitrary<string> {
  const name = parameter.in === 'path' ? pathName(parameter.name, context.path) : parameter.name
  const [kind = '', member] = parameter.name.split('.')
  const value = arbitraryValue(parameter.schema, context, name).map(inQuery)
  if (member === undefined) return value
  return fc.tuple(fc.nat(), value, fc.nat(9)).map(([at, other, dice]) => {
    const thing = context.known.some(kind.replace(/_ref$/, ''), at) ?? {}
    const known = member === 'id' ? thing.id : member === 'slug' ? thing.slug : thing.version
    return (dice === 0 && !context.isCalm) || known === undefined ? other : String(known)
  })
}

/** A list as its items with commas between them, which is one of the ways to send it. */
function inQuery(value: unknown): string {
  if (typeof value === 'string') return value
  return Array.isArray(value) ? value.map(inQuery).join(',') : (JSON.stringify(value) ?? '')
}

/** Without one, or with dots, it would be another route. */
function segmentOf(value: string): string {
  return /^\.{0,2}$/.test(value) ? 'x' : encodeURIComponent(wellFormed(value))
}

/** What a parameter of a path is a name of: `workflow_variant_id` for the `{id}` in `/workflows/variants/{id}/archive`. */
function pathName(name: string, path: string): string {
  const before = path.slice(0, path.indexOf(`/{${name}}`))
  const words = before.split('/').filter((it) => it !== '' && it !== 'simple')
  const named = words.map((word) => word.replace(/ies$/, 'y').replace(/s$/, ''))
  if (name === 'key' && named[0] !== 'service') return named.at(-1) ?? ''
  if (name !== 'id') return name
  const isVersioned = named[1] === 'variant' || named[1] === 'revision'
  return `${isVersioned ? named.join('_') : named.at(-1)}_id`
}

/** Conditions and keys of repetition, which any client may send. */
function arbitraryHeaders(known: KnownThings): fc.Arbitrary<Readonly<Record<string, string>>> {
  const tag = fc.tuple(fc.nat(), fc.constantFrom('*', '"x"', 'W/"x"', '"', ', ,')).map(([at, other]) => {
    return at % 4 === 0 ? other : (known.someTag(at) ?? other)
  })
  const printable = fc.string({ minLength: 1, maxLength: 12 }).map((text) => text.trim() || 'x')
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.record({ 'if-match': tag }) },
    { weight: 1, arbitrary: fc.record({ 'if-none-match': tag }) },
    {
      weight: 1,
      arbitrary: fc.record({ 'idempotency-key': fc.oneof(fc.constantFrom('a', 'b', 'c'), printable) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ accept: fc.constantFrom('text/event-stream', 'application/x-ndjson', '*/*') }),
    },
    { weight: 1, arbitrary: fc.record({ 'x-request-id': printable, traceparent: printable }) },
  )
}

function arbitraryBody(
  { body, method }: Operation,
  context: ValueContext,
): fc.Arbitrary<UploadedBytes | undefined> {
  // A client may send a body where none is taken, but fetch sends none with GET.
  if (method === 'GET') return fc.constant(undefined)
  const value = body ? arbitraryValue(body.schema, context) : fc.constant({})
  const valid = value.map((it) => JSON.stringify(it) ?? '{}')
  if (context.isCalm) return valid.map((content) => ({ content, type: 'application/json' }))
  const example = fc.constant(JSON.stringify(body?.example ?? {}))
  const spoilt = fc.tuple(fc.oneof(valid, example), arbitrarySpoiling).map(([text, spoil]) => spoil(text))
  return fc
    .tuple(
      fc.oneof(
        { weight: 24, arbitrary: valid },
        { weight: 2, arbitrary: example },
        { weight: 3, arbitrary: spoilt },
        { weight: 1, arbitrary: arbitraryJunk.map((it) => JSON.stringify(it) ?? '') },
      ),
      fc.nat(60),
    )
    .map(([content, dice]) => ({ content, type: dice === 0 ? 'text/plain' : 'application/json' }))
}

/** What may happen to the text of a body. */
const arbitrarySpoiling: fc.Arbitrary<(text: string) => string> = fc.oneof(
  fc
    .double({ min: 0, max: 1, noNaN: true })
    .map((part) => (text: string) => text.slice(0, text.length * part)),
  fc
    .constantFrom('1e400', '12345678901234567890', '-0', '1.0', 'NaN', '[[[[[[', '"\\ud800"', '"\\u0000"')
    .map((other) => (text: string) => text.replace(/(?<=:)(\d+|"[^"]*"|true|false)/, other)),
  fc
    .constantFrom('__proto__', 'constructor', '')
    .map((other) => (text: string) => text.replace(/"\w+"(?=:\S*$)/, JSON.stringify(other))),
  fc.constant((text: string) => text.replace(/^\{(.*)\}$/s, '{$1,$1}')),
  fc.constant((text: string) => '['.repeat(200) + text + ']'.repeat(200)),
  fc.constant((text: string) => `\ufeff${text}`),
  arbitraryText.map((other) => (text: string) => text + other),
)

function wellFormed(text: string): string {
  return text.toWellFormed()
}
