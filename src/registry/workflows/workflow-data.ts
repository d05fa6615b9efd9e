import type { FieldProblem } from '../../errors.ts'
import {
  countValues,
  entriesOf,
  fromEntries,
  getKey,
  getPath,
  hasKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  keysOf,
  numberOf,
  withKey,
  withoutKey,
} from '../../base/json.ts'
import type { AcceptedDocument } from '../payload/document-family.ts'
import type { PayloadContext, PresentContext, Warning } from '../payload/family.ts'
import { MOST_LISTED, problemsRefusal, typeName, UNKNOWN_KEY, unknownKey } from '../documents/problems.ts'
import type { BuiltInSchemas } from './schemas/built-in.ts'
import { schemaProblems } from './schemas/schema-problems.ts'

/**
 * A `data` object as a client sent it, made ready to store (interface 7.1, 7.5): nulls left out,
 * a url of our own dropped, the schemas of a built-in handler filled in, a skill reduced to what a skill has. Refuses
 * with one `invalid_request` that lists every problem at its place below `context.loc`; an unknown key is one of them.
 */
export function acceptWorkflowData(
  data: Json,
  { loc, servicesBase, text }: PayloadContext,
  handlers: HandlerTable,
): AcceptedDocument {
  const sent = readFields(data, loc, handlers)
  const uri = handlerOf(sent)
  const own = hasKey(sent, 'url') ? dropServicesUrl(sent, servicesBase) : sent
  if (isSkill(uri)) return reduceToSkill(own)
  const headers = getKey(own, 'headers')
  const warnings = isJsonObject(headers) ? literalHeaderWarnings(headers) : []
  const hasEscapes = text?.includes(ESCAPED_IN_JSON) ?? true
  return {
    data: fillSchemas(own, handlers.find(uri)),
    warnings: hasEscapes ? [...warnings, ...escapedBracesWarnings(own, uri?.key)] : warnings,
  }
}

/** A backslash before a variable, as JSON spells it. */
const ESCAPED_IN_JSON = '\\\\{{'

/** A field of `data` that must be a string … */
interface TextField {
  /** The code of what is wrong with a string, if anything may be. */
  readonly code: string
  problem?(value: string, handlers: HandlerTable): string | undefined
}

/** … or one that must be an object; of one with `problems` members that are null are left out. */
interface ObjectField {
  /** What a sentence says that it must be. */
  readonly rule: string
  problems?(value: JsonObject, loc: readonly (string | number)[]): readonly FieldProblem[]
}

/** The schemas a workflow may carry: of its configuration, of a request, of an answer (interface 7.6). */
const schemaParts: readonly string[] = ['parameters', 'inputs', 'outputs']

/** The languages a custom code workflow may be written in (interface 7.7). */
export const runtimes: readonly string[] = ['python', 'typescript', 'javascript']

/** The closed shape of `data`, in the order of the interface. */
const FIELDS: ReadonlyMap<string, TextField | ObjectField> = new Map<string, TextField | ObjectField>([
  ['uri', { code: 'handler_uri', problem: (uri, handlers) => handlers.uriProblem(parseHandlerUri(uri)) }],
  ['url', { code: 'url', problem: urlProblem }],
  ['schemas', { rule: `an object with the keys ${schemaParts.join(', ')}`, problems: schemasProblems }],
  ['parameters', { rule: 'an object' }],
  ['runtime', { code: 'enum', problem: runtimeProblem }],
  ['script', { code: 'string_type' }],
  ['headers', { rule: 'an object', problems: headersProblems }],
])

/**
 * The members of `data` that are there: null equals absent (interface 2.13), one level down, too. Refuses what is not of the closed shape;
 * sentences are made only of what the refusal names.
 */
function readFields(data: Json, loc: readonly (string | number)[], handlers: HandlerTable): JsonObject {
  if (!isJsonObject(data)) throw problemsRefusal('invalid_request', [wrongType('data', data, loc)])
  const members: [string, Json][] = []
  const problems: FieldProblem[] = []
  let unnamed = 0
  for (const [key, value] of entriesOf(data)) {
    if (value === null) continue
    const field = FIELDS.get(key)
    if (!field && problems.length >= MOST_LISTED) unnamed++
    else for (const problem of problemsOf(key, value, [...loc, key], handlers)) problems.push(problem)
    const mayHoldNulls = field && 'problems' in field && isJsonObject(value)
    members.push([key, mayHoldNulls ? withoutNulls(value) : value])
  }
  if (problems.length > 0) throw problemsRefusal('invalid_request', problems, problems.length + unnamed)
  return fromEntries(members)
}

/** What is wrong with a member of `data` that is not null. */
function problemsOf(
  key: string,
  value: Json,
  loc: readonly (string | number)[],
  handlers: HandlerTable,
): readonly FieldProblem[] {
  const field = FIELDS.get(key)
  if (!field) return [{ loc, msg: unknownKey(key, 'data', [...FIELDS.keys()]), type: UNKNOWN_KEY }]
  if (!('code' in field)) {
    if (!isJsonObject(value)) return [wrongType(key, value, loc, field.rule)]
    return field.problems?.(value, loc) ?? []
  }
  if (typeof value !== 'string') return [wrongType(key, value, loc, 'a string')]
  const msg = field.problem?.(value, handlers)
  return msg === undefined ? [] : [{ loc, msg, type: field.code }]
}

function wrongType(
  name: string,
  value: Json,
  loc: readonly (string | number)[],
  rule = 'an object',
): FieldProblem {
  const type = rule === 'a string' ? 'string_type' : 'object_type'
  return { loc, msg: `${name} must be ${rule}, but it is ${typeName(value)}`, type }
}

function withoutNulls(object: JsonObject): JsonObject {
  return fromEntries(entriesOf(object).filter(([, value]) => value !== null))
}

function urlProblem(url: string): string | undefined {
  // URL alone would also read "http:x" and what has spaces in it
  if (/^https?:\/\/[^/?#\s\\][^\s\\]*$/i.test(url) && URL.canParse(url)) return undefined
  return `"${url}" is not an absolute http or https address with a host, such as https://example.org/handler`
}

function runtimeProblem(runtime: string): string | undefined {
  return runtimes.includes(runtime) ? undefined : `"${runtime}" is not a runtime; use ${runtimes.join(', ')}`
}

/** More than any server takes; each is answered with a warning several times as long. */
const MAX_HEADERS = 1000

/**
 * What is wrong with a `data.headers` that a client sent (interface 7.8). A name must be one HTTP allows; a
 * value is a string HTTP allows, a reference object, or `{"secret": "NAME"}`. A value that is null counts as absent.
 */
function headersProblems(headers: JsonObject, loc: readonly (string | number)[]): readonly FieldProblem[] {
  const members = entriesOf(headers)
  if (members.length > MAX_HEADERS) {
    const msg = `headers must be at most ${MAX_HEADERS}, but there are ${members.length}`
    return [{ loc, msg, type: 'too_long' }]
  }
  return members.flatMap(([name, value]): readonly FieldProblem[] => {
    if (value === null) return []
    const place = [...loc, name]
    const quoted = JSON.stringify(name)
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
      const msg = `${quoted} cannot be the name of an HTTP header; use letters, digits and hyphens`
      return [{ loc: place, msg, type: 'header_name' }]
    }
    const problem = typeof value === 'string' ? literalProblem(value) : objectProblem(value)
    return problem === undefined
      ? []
      : [{ loc: place, msg: `header ${quoted} ${problem}`, type: 'header_value' }]
  })
}

/** One warning for each value that is spelled out: it lies in git, so whoever clones the repository has it. */
function literalHeaderWarnings(headers: JsonObject): readonly Warning[] {
  return entriesOf(headers)
    .filter(([, value]) => typeof value === 'string')
    .map(([name]) => ({
      code: 'literal_header',
      message: `the value of header "${name}" is stored as it is and goes along with every clone of the repository; if it is a credential, store a secret and send {"secret": "NAME"} instead`,
      target: ['headers', name],
    }))
}

function literalProblem(value: string): string | undefined {
  // tab and the printable characters of Latin-1 are what an HTTP field value may hold
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return undefined
  return 'holds a line break, a control character or a character outside Latin-1, which HTTP cannot carry; encode it'
}

function objectProblem(value: Json): string | undefined {
  if (!isJsonObject(value)) {
    return `must be a string, a reference object or {"secret": "NAME"}, but it is ${typeName(value)}`
  }
  const keys = keysOf(value)
  if (keys.includes('secret')) {
    const name = getKey(value, 'secret')
    if (keys.length > 1) return 'must hold nothing beside "secret"'
    return typeof name === 'string' && name !== ''
      ? undefined
      : 'needs the name of a secret, a string that is not empty'
  }
  return referenceProblem(value)
}

/** The reference object of interface 5.1: by id, by slug, or by slug and version. */
function referenceProblem(value: JsonObject): string | undefined {
  const stray = keysOf(value).find((key) => !['id', 'slug', 'version'].includes(key))
  if (stray !== undefined) {
    return `holds the key "${stray}"; a reference object has id, slug and version, a secret only "secret"`
  }
  const [id, slug, version] = ['id', 'slug', 'version'].map((key) => getKey(value, key) ?? undefined)
  if (id === undefined && slug === undefined) return 'names nothing; a reference object needs an id or a slug'
  if (id !== undefined && !(typeof id === 'string' && UUID.test(id))) return 'has an id that is not a UUID'
  if (slug !== undefined && !(typeof slug === 'string' && slug !== ''))
    return 'has a slug that is not a string'
  if (version === undefined) return undefined
  const number = typeof version === 'string' && /^\d+$/.test(version) ? Number(version) : numberOf(version)
  return Number.isSafeInteger(number) && Number(number) >= 1
    ? undefined
    : 'has a version that is not 1, 2, 3 …'
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** At any depth of the schemas: to check one against its meta-schema is far more work than to read it. */
const MAX_VALUES_IN_SCHEMAS = 10_000

/**
 * What is wrong with a `data.schemas` that a client sent, each problem at its place below `loc`. A part that is null
 * counts as absent (interface 2.13); a key that is no part is refused like an unknown key of `data`.
 */
function schemasProblems(schemas: JsonObject, loc: readonly (string | number)[]): readonly FieldProblem[] {
  if (countValues(schemas, MAX_VALUES_IN_SCHEMAS) > MAX_VALUES_IN_SCHEMAS) {
    const msg = `schemas must hold at most ${MAX_VALUES_IN_SCHEMAS} values in all; send simpler ones`
    return [{ loc, msg, type: 'too_long' }]
  }
  return entriesOf(schemas).flatMap(([part, schema]): readonly FieldProblem[] => {
    const place = [...loc, part]
    if (!schemaParts.includes(part)) {
      return [{ loc: place, msg: unknownKey(part, 'data.schemas', schemaParts), type: UNKNOWN_KEY }]
    }
    if (schema === null) return []
    if (!isJsonObject(schema)) {
      const msg = `schemas.${part} must be a JSON Schema object, but it is ${typeName(schema)}`
      return [{ loc: place, msg, type: 'object_type' }]
    }
    return schemaProblems(schema).map(({ path, message }) => ({
      loc: [...place, ...path],
      msg: `schemas.${part} is not a valid JSON Schema: ${['', ...path].join('/') || 'the schema'} ${message}`,
      type: 'json_schema',
    }))
  })
}

/**
 * The data with the schemas that a handler implies (interface 7.5): `parameters` and `outputs` where the
 * client sent none, and `outputs` over whatever was sent where the configured values determine it. `inputs` is never
 * filled. Keys that are added come last.
 */
export function fillSchemas(data: JsonObject, handler: HandlerInterface | undefined): JsonObject {
  if (!handler?.schemas) return data
  const sent = getKey(data, 'schemas')
  const before: JsonObject = isJsonObject(sent) ? sent : {}
  let schemas = before
  for (const part of ['parameters', 'outputs'] as const) {
    const schema = handler.schemas[part]
    if (schema !== undefined && !hasKey(schemas, part)) schemas = withKey(schemas, part, schema)
  }
  const { computedOutputs, computedWhere } = handler
  const parameters = getKey(data, 'parameters')
  const isComputed = !computedWhere || getPath(parameters, ...computedWhere.path) === computedWhere.is
  const computed = isComputed ? computedOutputs?.(parameters) : undefined
  if (computed !== undefined) schemas = withKey(schemas, 'outputs', computed)
  return schemas === before ? data : withKey(data, 'schemas', schemas)
}

const MAX_ESCAPES_NAMED = 10

/** Parameters of handlers that hold templates. */
const TEMPLATES: readonly string[] = ['prompt', 'messages', 'prompt_template', 'json_schema']

const ESCAPED_BRACES =
  'the text holds "\\{{", which writes {{ as text, so that no variable begins there; earlier versions kept the backslash and filled the variable in. For a backslash before a variable write "\\\\{{"'

/**
 * One warning for each text of a curly template that holds `\{{`, which earlier versions read as it stands. Without a handler nobody
 * knows what is a template, so every text of the parameters may be one.
 */
function escapedBracesWarnings(data: JsonObject, key: string | undefined): readonly Warning[] {
  const parameters = getKey(data, 'parameters')
  if (!isJsonObject(parameters)) return []
  const warnings: Warning[] = []
  const target: (string | number)[] = ['parameters']
  // Judges of these versions are fstring and mustache unless they say something else (interface 11.17).
  const isOther = key === 'auto_ai_critique' && ['2', '5'].includes(String(getKey(parameters, 'version')))
  look(parameters, !isOther)
  return warnings

  function look(value: Json, isCurly: boolean): void {
    if (warnings.length >= MAX_ESCAPES_NAMED) return
    if (typeof value === 'string') {
      if (isCurly && value.includes('\\{{'))
        warnings.push({ code: 'escaped_braces', message: ESCAPED_BRACES, target: [...target] })
    } else if (isJsonObject(value)) {
      const format = getKey(value, 'template_format')
      const isCurlyHere = typeof format === 'string' ? format === 'curly' : isCurly
      for (const [name, member] of entriesOf(value)) {
        if (value === parameters && key !== undefined && !TEMPLATES.includes(name)) continue
        target.push(name)
        look(member, isCurlyHere)
        target.pop()
      }
    } else if (isJsonArray(value))
      for (const [index, item] of value.entries()) {
        target.push(index)
        look(item, isCurly)
        target.pop()
      }
  }
}

/**
 * The data of a skill, which is content and never runs: `uri`, `parameters` and `schemas.parameters` stay
 * (interface 7.12), and a warning names each thing left out.
 */
function reduceToSkill(data: JsonObject): AcceptedDocument {
  const sent = getKey(data, 'schemas')
  const schemas: JsonObject = isJsonObject(sent) ? sent : {}
  const kept = pick(data, fieldsOfSkill)
  const keptSchemas = pick(schemas, schemasOfSkill)
  const dropped = [
    ...others(data, fieldsOfSkill).map((key) => [key]),
    ...others(schemas, schemasOfSkill).map((key) => ['schemas', key]),
  ]
  return {
    data:
      keysOf(keptSchemas).length === 0 ? withoutKey(kept, 'schemas') : withKey(kept, 'schemas', keptSchemas),
    warnings: dropped.map((target) => ({
      code: 'not_kept_by_skill',
      message: `${target.join('.')} was left out: a skill never runs and keeps only uri, parameters and schemas.parameters`,
      target,
    })),
  }
}

const fieldsOfSkill: readonly string[] = ['uri', 'parameters', 'schemas']

const schemasOfSkill: readonly string[] = ['parameters']

function pick(object: JsonObject, keys: readonly string[]): JsonObject {
  return fromEntries(entriesOf(object).filter(([key]) => keys.includes(key)))
}

function others(object: JsonObject, keys: readonly string[]): readonly string[] {
  return keysOf(object).filter((key) => !keys.includes(key))
}

/** The parts of a `data.uri`, missing ones filled in. */
export interface HandlerUri {
  readonly provider: string
  readonly kind: string
  readonly key: string
  /** As written (`v0`), or `latest` when the uri names none. */
  readonly version: string
}

const LATEST = 'latest'

/**
 * Reads a `data.uri` of one to four parts between colons (interface 7.2): `key`, `kind:key`,
 * `provider:kind:key`, `provider:kind:key:version`. Provider and kind default to `svc` and `builtin`. Undefined for
 * what names no handler: blank text, more than four parts, a web address, whose colon separates nothing, and text that holds
 * an embed token, which names one only once it is resolved (interface 10.1).
 */
export function parseHandlerUri(uri: string): HandlerUri | undefined {
  if (uri.trim() === '' || /^https?:\/\/|@\{\{|@svc\.embed\[/i.test(uri)) return undefined
  const parts = uri.split(':', 5)
  if (parts.length > 4) return undefined
  const version = parts.length === 4 ? parts.pop() : undefined
  const [key = '', kind = 'builtin', provider = 'svc'] = parts.reverse()
  return { provider, kind, key, version: version || LATEST }
}

/** The handler that a workflow's data names; undefined if it names none. */
export function handlerOf(data: JsonObject): HandlerUri | undefined {
  const uri = getKey(data, 'uri')
  return typeof uri === 'string' ? parseHandlerUri(uri) : undefined
}

/** Whether the service itself provides the handler (interface 7.10, `is_managed`). */
export function isManaged(uri: HandlerUri | undefined): uri is HandlerUri {
  return uri?.provider === 'svc'
}

/** Whether the uri is the managed one whose workflows hold snippet content and never run (interface 7.12). */
export function isSkill(uri: HandlerUri | undefined): boolean {
  return isManaged(uri) && uri.key === 'skill'
}

/** The version a uri runs: `latest` is the highest that exists, and every handler has exactly `v0` so far. */
export function effectiveVersion(uri: HandlerUri): string {
  return uri.version === LATEST ? 'v0' : uri.version
}

/** What workflows need to know of a handler of this service: they keep its uri and its schemas, and do not run it. */
export interface HandlerInterface {
  /** Its name in the uri, `svc:<kind>:<key>:v0`. */
  readonly key: string
  readonly kind: 'builtin' | 'custom'
  readonly schemas?: BuiltInSchemas
  /** The outputs schema that configured parameters determine (interface 7.5); undefined where they determine none. */
  readonly computedOutputs?: (parameters: Json | undefined) => JsonObject | undefined
  /** Where the parameters say, by this value, that they may determine it; without this they always may. */
  readonly computedWhere?: { readonly path: readonly string[]; readonly is: string }
}

/** The handlers of the provider `svc`, by kind and key (interface 7.2). */
export class HandlerTable {
  /** Of both kinds, in the order of the table. */
  readonly keys: readonly string[]
  readonly #handlers: ReadonlyMap<string, HandlerInterface>

  constructor(handlers: readonly HandlerInterface[]) {
    this.keys = handlers.map(({ key }) => key)
    this.#handlers = new Map(handlers.map((handler) => [handler.key, handler]))
  }

  /** What of them can be sent to a thread: enough to tell which uris there are. */
  get sent(): readonly Pick<HandlerInterface, 'key' | 'kind'>[] {
    return Array.from(this.#handlers.values(), ({ key, kind }) => ({ key, kind }))
  }

  /** `svc:builtin:chat:v0` for `chat`; a key of no handler is taken for a built-in. */
  uriOf(key: string): string {
    return `svc:${this.#handlers.get(key)?.kind ?? 'builtin'}:${key}:v0`
  }

  /** The handler that a uri names; undefined for other providers, and for kinds, keys and versions that there are not. */
  find(uri: HandlerUri | undefined): HandlerInterface | undefined {
    if (!isManaged(uri) || effectiveVersion(uri) !== 'v0') return undefined
    const handler = this.#handlers.get(uri.key)
    return handler?.kind === uri.kind ? handler : undefined
  }

  /**
   * What is wrong with a uri of the service's own provider: a sentence naming the keys it could have been, or undefined
   * if it is fine (interface 7.2). Other providers' uris are their own business, and versions are not checked.
   */
  uriProblem(uri: HandlerUri | undefined): string | undefined {
    if (!isManaged(uri) || this.#handlers.get(uri.key)?.kind === uri.kind) return undefined
    return `"svc:${uri.kind}:${uri.key}" is not a handler of this service; ${this.#known(uri.kind)}`
  }

  #known(kind: string): string {
    const all = [...this.#handlers.values()]
    const keys = all.filter((it) => it.kind === kind).map(({ key }) => key)
    if (keys.length > 0) return `the keys of kind ${kind} are ${keys.join(', ')}`
    return `its kinds are ${[...new Set(all.map((it) => it.kind))].join(' and ')}`
  }
}

/**
 * The data as a reader sees it: beside a managed uri, `url` is where the service runs exactly this revision,
 * `<services base>/<key>/<version>/<revision id>`, unless a url of elsewhere is stored (interface 7.4). A skill has none.
 */
export function presentWorkflow(
  data: JsonObject,
  context: Pick<PresentContext, 'servicesBase' | 'revisionId'>,
): JsonObject {
  const stored = getKey(data, 'url')
  if (typeof stored === 'string' && !isServicesUrl(stored, context.servicesBase)) return data
  const handler = handlerOf(data)
  if (!isManaged(handler) || isSkill(handler)) return data
  const parts = [handler.key, effectiveVersion(handler), context.revisionId].map(encodeURIComponent)
  return withKey(data, 'url', [context.servicesBase, ...parts].join('/'))
}

/** The data without a url that this service derives itself: such a url is never stored (interface 7.4). */
export function dropServicesUrl(data: JsonObject, servicesBase: string): JsonObject {
  const url = getKey(data, 'url')
  return typeof url === 'string' && isServicesUrl(url, servicesBase) ? withoutKey(data, 'url') : data
}

/** Whether a url is the services base or lies under it; scheme and host are compared as URLs, without case. */
function isServicesUrl(url: string, servicesBase: string): boolean {
  if (!URL.canParse(url) || !URL.canParse(servicesBase)) return false
  const { origin, pathname } = new URL(url)
  const base = new URL(servicesBase)
  return origin === base.origin && (pathname === base.pathname || pathname.startsWith(`${base.pathname}/`))
}
