import type { ParameterizedContext } from 'koa'
import { z } from 'zod'
import { type FieldProblem, Refusal } from '../../errors.ts'
import { entriesOf, ExactNumber, isJsonArray, isJsonObject, type Json } from '../../base/json.ts'
import {
  boundedProblem,
  MOST_LISTED,
  problemsRefusal,
  READ_ONLY,
  refusalCode,
  UNKNOWN_KEY,
} from '../../registry/reading.ts'
import { nearestName } from '../../base/suggestions.ts'
import type { ReadJsonBody } from '../body/json-body.ts'
import type { Upload } from '../body/upload.ts'
import type { Endpoint } from './endpoint.ts'
import { type Known, knownFields, type KnownObject } from './known-fields.ts'

/** The checked input of a request, and the text of its body (for an upload, a hash that identifies it). */
export interface GuardedInput {
  readonly input: unknown
  readonly text: string
  readonly upload?: Upload
}

/** What happens to unknown fields and parameters (interface 2.10, 2.30). */
export type OnUnknown = 'refuse' | 'ignore'

/** Where a field was sent. */
type Where = 'body' | 'query'

/**
 * Reads the input of an endpoint from the body, the query string or both, and checks it. Refuses as `guard` and `ReadJsonBody` do, and refuses any
 * input to an endpoint that takes none.
 */
export async function readInput(
  endpoint: Endpoint,
  ctx: ParameterizedContext<unknown>,
  readJsonBody: ReadJsonBody,
  onUnknown: OnUnknown,
): Promise<GuardedInput> {
  const { input: schema = NOTHING, method, keepNulls = false } = endpoint
  const isStrict = onUnknown === 'refuse'
  if (method === 'GET' || method === 'DELETE') return readWithQuery(endpoint, ctx.querystring, isStrict)
  if (!endpoint.input && !isStrict) return { input: undefined, text: '' }
  const { text, value } = await readJsonBody(ctx)
  if (value === undefined && endpoint.input && !endpoint.optionalBody)
    throw withoutBody(endpoint, ctx.querystring, isStrict)
  const body = plainEnvelope(value ?? {}, 2, { keepNulls, parts: 0 })
  const unknown = isStrict ? unknownFields(schema, body, 'body', keepNulls) : []
  if (ctx.querystring === '') return { input: guard(schema, body, 'body', unknown), text }
  const sent = { body, unknown, text, isSent: value !== undefined }
  return readWithQuery(endpoint, ctx.querystring, isStrict, sent)
}

/** The input from a body, with plain envelopes, and its unknown fields. */
interface SentBody {
  readonly body: unknown
  readonly unknown: readonly FieldProblem[]
  readonly text: string
  readonly isSent: boolean
}

const NO_BODY: SentBody = { body: {}, unknown: [], text: '', isSent: false }

/** The same for a request with a query string. A field of the body wins over the parameter of the same name. */
function readWithQuery(
  endpoint: Endpoint,
  querystring: string,
  isStrict: boolean,
  { body, unknown, text, isSent }: SentBody = NO_BODY,
): GuardedInput {
  const fields =
    typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Fields) : undefined
  const asked = readQuery(endpoint, querystring, fields ?? {}, isStrict)
  const whole = fields ? { ...asked.fields, ...fields } : body
  const where = isSent ? 'body' : 'query'
  return { input: guard(endpoint.input ?? NOTHING, whole, where, [...unknown, ...asked.unknown]), text }
}

function withoutBody(endpoint: Endpoint, querystring: string, isStrict: boolean): Refusal {
  const { unknown } = readQuery(endpoint, querystring, {}, isStrict)
  return problemsRefusal('invalid_request', [...unknown, BODY_MISSING])
}

type Fields = Readonly<Record<string, unknown>>

/** The input from the query string beside these fields of the body, and its unknown parameters. */
function readQuery(
  { input: schema = NOTHING, fromQuery, unusedQuery }: Endpoint,
  querystring: string,
  body: Fields,
  isStrict: boolean,
): { readonly fields: Fields; readonly unknown: readonly FieldProblem[] } {
  if (querystring === '') return { fields: {}, unknown: [] }
  const query = new AskedQuery(querystring)
  const fields = fromQuery?.(query, body) ?? {}
  const unknown = isStrict ? [...query.unknown(unusedQuery), ...unknownFields(schema, fields, 'query')] : []
  return { fields, unknown }
}

const NOTHING = z.object({})

const BODY_MISSING: FieldProblem = {
  loc: ['body'],
  msg: 'this route needs a JSON object as its body.',
  type: 'missing',
}

/**
 * Checks a part of a request against its schema. Refuses with `invalid_request` (422) and a list of all problems (the first hundred of very many),
 * each with its place; `where` is `body`, `path` or `query`. Fields in `unknown` are problems, too, and make the code `unknown_field`.
 */
export function guard<T>(
  schema: z.ZodType<T>,
  value: unknown,
  where: Where | 'path',
  unknown: readonly FieldProblem[] = [],
): T {
  const result = schema.safeParse(value)
  if (result.success && unknown.length === 0) return result.data
  throw refusalOf(result.error?.issues ?? [], unknown, where)
}

function refusalOf(
  issues: readonly z.core.$ZodIssue[],
  unknown: readonly FieldProblem[],
  where: string,
): Refusal {
  const places = new Set(unknown.map(({ loc }) => JSON.stringify(loc)))
  const invalid = issues
    .slice(0, MOST_LISTED)
    .flatMap((issue) => problemsOf(issue, where))
    .filter(({ loc }) => !places.has(JSON.stringify(loc)))
  const errors = [...unknown, ...invalid]
  const listed = errors.slice(0, MOST_LISTED).map(boundedProblem)
  const sentences = listed.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`)
  const more = errors.length - listed.length + Math.max(0, issues.length - MOST_LISTED)
  if (more > 0) sentences.push(`and ${more} more problems`)
  return new Refusal(refusalCode('invalid_request', listed), ended(sentences.join('; ')), {
    errors: listed,
  })
}

function problemsOf(issue: z.core.$ZodIssue, where: string): FieldProblem[] {
  const loc = [where, ...issue.path.map((part) => (typeof part === 'number' ? part : String(part)))]
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      loc: [...loc, key],
      msg: `there is no such field here; remove it`,
      type: UNKNOWN_KEY,
    }))
  }
  const type =
    issue.code === 'custom' && typeof issue.params?.['type'] === 'string' ? issue.params['type'] : issue.code
  return [{ loc, msg: inWordsOfJson(issue.message.replace(/^Invalid input: /, '')), type }]
}

/** Names the types of exact JSON as the sender knows them. */
function inWordsOfJson(message: string): string {
  return message
    .replace(/ExactNumber$/, 'a number that is out of range or too exact')
    .replace(/ExactObject$/, 'object')
}

/** The text with a full stop, unless it ends with a question. */
function ended(text: string): string {
  return text.endsWith('?') ? text : `${text}.`
}

/** The settings of `plainEnvelope`, and the number of values it has made plain. */
interface Envelope {
  readonly keepNulls: boolean
  parts: number
}

/**
 * A parsed body, prepared for a schema. Envelopes, their members and the items of lists in those become plain objects: an odd key such as `7` or
 * `__proto__` is an unknown key there, as any other. Numbers written as `1.0` become plain numbers. Free-form values further down stay exact. If
 * `null` means absent (interface 2.10; not in PUT), nulls on these levels are left out.
 */
function plainEnvelope(value: Json, levels: number, envelope: Envelope, isListed = false): unknown {
  if (value instanceof ExactNumber) return asPlainNumber(value)
  // A list is no level of its own: a reference in a list is read as one outside of it. No list of an envelope contains lists.
  if (levels === 0 || value === null || typeof value !== 'object' || (isListed && isJsonArray(value)))
    return value
  const isList = isJsonArray(value)
  const members = isList ? value : entriesOf(value)
  envelope.parts += members.length
  if (members.length > MOST_IN_ENVELOPE || envelope.parts > MOST_IN_ENVELOPES)
    throw tooMany(isList, members.length, envelope.parts)
  if (isList) return value.map((item) => plainEnvelope(item, levels, envelope, true))
  const plain: [string, unknown][] = []
  for (const [key, member] of entriesOf(value))
    if (member !== null || envelope.keepNulls) plain.push([key, plainEnvelope(member, levels - 1, envelope)])
  return Object.fromEntries(plain)
}

/** No valid request has a longer list of references or ids, or a larger record. A schema checks all items at once. */
const MOST_IN_ENVELOPE = 10_000
/** The maximum for all lists and records together. */
const MOST_IN_ENVELOPES = 100_000

function tooMany(isList: boolean, count: number, parts: number): Refusal {
  const [what, counted, limit] =
    count > MOST_IN_ENVELOPE
      ? [
          isList ? 'A list in the envelope' : 'An object in the envelope',
          `${count} ${isList ? 'items' : 'members'}`,
          MOST_IN_ENVELOPE,
        ]
      : ['The envelope', `${parts} items and members`, MOST_IN_ENVELOPES]
  return new Refusal(
    'limit_exceeded',
    `${what} of the request has ${counted} or more; at most ${limit} are taken there. Send fewer.`,
    { details: { limit } },
  )
}

/** `1.0` and `1e2` become the numbers that they mean. A number that no double can hold stays exact, and the schema refuses it. */
function asPlainNumber(exact: ExactNumber): unknown {
  const number = Number(exact.literal)
  return Number.isSafeInteger(number) ? number : exact
}

/**
 * The unknown fields of a request, on all levels (interface 2.10): each with its place, and the nearest known name if there is one. Of very many,
 * the first. A null counts as absent unless `keepNulls`.
 */
export function unknownFields(
  schema: z.ZodType,
  value: unknown,
  where: Where,
  keepNulls = false,
): readonly FieldProblem[] {
  const problems: FieldProblem[] = []
  let known = knownOf.get(schema)
  if (!known) knownOf.set(schema, (known = { fields: knownFields(schema) }))
  // The value was read from JSON or from a query string.
  lookAt(known.fields, value as Json, [where], keepNulls, problems)
  return problems
}

/** The names that the schemas of requests know, computed on first use. */
const knownOf = new WeakMap<z.ZodType, { readonly fields: Known | undefined }>()

function lookAt(
  known: Known | undefined,
  value: Json,
  place: FieldProblem['loc'],
  keepNulls: boolean,
  problems: FieldProblem[],
): void {
  if (known === undefined || typeof value !== 'object' || value === null) return
  if (isJsonArray(value)) lookAtItems(known, value, place, keepNulls, problems)
  else if ('members' in known && isJsonObject(value)) {
    for (const [key, member] of entriesOf(value)) {
      if (member === null && !keepNulls) continue
      if (known.members.has(key)) lookAt(known.members.get(key), member, [...place, key], keepNulls, problems)
      else if (known.unused.has(key)) continue
      else if (known.each && !known.fixed.has(key))
        lookAt(known.each.known, member, [...place, key], keepNulls, problems)
      else if (problems.length < MOST_LISTED)
        problems.push({ loc: [...place, key], ...strayField(key, known) })
    }
  }
}

function lookAtItems(
  known: Known,
  items: readonly Json[],
  place: FieldProblem['loc'],
  keepNulls: boolean,
  problems: FieldProblem[],
): void {
  if (!('items' in known)) return
  for (const [index, item] of items.entries())
    lookAt(known.items, item, [...place, index], keepNulls, problems)
}

/** The problem of a field that the endpoint does not know. */
function strayField(key: string, known: KnownObject): Pick<FieldProblem, 'msg' | 'type'> {
  return known.fixed.has(key)
    ? { msg: `the server makes ${shownName(key)}; leave it out of what is to be made`, type: READ_ONLY }
    : { msg: unknownField(key, known), type: UNKNOWN_KEY }
}

function unknownField(key: string, { members, misplaced }: KnownObject): string {
  if (Object.hasOwn(misplaced, key)) return misplaced[key] ?? ''
  const elsewhere = Object.keys(misplaced)
  const meant = nearestName(key, [...members.keys(), ...elsewhere])
  return meant !== undefined && elsewhere.includes(meant)
    ? `there is no field ${shownName(key)} here; did you mean ${meant}? But ${misplaced[meant]}`
    : unknownName('field', key, [...members.keys()])
}

const MAX_NAMES_LISTED = 12

/** The sentence about an unknown name: with the nearest known name, or with all known names. */
function unknownName(what: string, name: string, known: readonly string[]): string {
  const shown = shownName(name)
  const meant = nearestName(name, known)
  if (meant !== undefined) return `there is no ${what} ${shown} here; did you mean ${meant}?`
  if (known.length === 0) return `there is no ${what} ${shown} here; leave it out, there are none`
  const more = known.length > MAX_NAMES_LISTED ? ', …' : ''
  return `there is no ${what} ${shown} here; there are ${known.slice(0, MAX_NAMES_LISTED).join(', ')}${more}`
}

function shownName(name: string): string {
  return JSON.stringify(name.slice(0, 80))
}

/** The query string of a request. It notes which parameters are read: those are the known ones. */
export class AskedQuery extends URLSearchParams {
  readonly #known = new Set<string>()

  override get(name: string): string | null {
    this.#known.add(name)
    return super.get(name)
  }

  override getAll(name: string): string[] {
    this.#known.add(name)
    return super.getAll(name)
  }

  override has(name: string): boolean {
    this.#known.add(name)
    return super.has(name)
  }

  /** A caller that reads all parameters knows all of them. */
  override [Symbol.iterator]() {
    for (const name of super.keys()) this.#known.add(name)
    return super[Symbol.iterator]()
  }

  /** The parameters that were read. */
  get known(): ReadonlySet<string> {
    return this.#known
  }

  /** The parameters that were not read (interface 2.10), except those that clients may send without effect. */
  unknown(unused: readonly string[] = []): readonly FieldProblem[] {
    const known = [...this.#known]
    return [...new Set(super.keys())]
      .filter((name) => !this.#known.has(name) && !unused.includes(name))
      .slice(0, MOST_LISTED)
      .map((name) => ({
        loc: ['query', name],
        msg: unknownName('query parameter', name, known),
        type: UNKNOWN_KEY,
      }))
  }
}
