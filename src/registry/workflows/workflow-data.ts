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
 * Validates and normalises a `data` object from a client (interface 7.1, 7.5): it leaves out nulls and a url of this server, fills in the schemas
 * of a built-in handler, and reduces a skill to the parts of a skill. Refuses with one `invalid_request` that lists every problem at its place
 * below `context.loc`, including unknown keys.
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
  /** The code of the problem of a string, if it may have one. */
  readonly code: string
  problem?(value: string, handlers: HandlerTable): string | undefined
}

/** … or one that must be an object; null members of an object with `problems` are left out. */
interface ObjectField {
  /** The name of the required type in sentences. */
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
 * The present members of `data`; null means absent (interface 2.13), also one level down. Refuses unknown members. Sentences are made only for
 * members that are refused.
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

/** The problem of a member of `data` that is not null. */
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
  // URL alone would accept "http:x", and spaces.
  if (/^https?:\/\/[^/?#\s\\][^\s\\]*$/i.test(url) && URL.canParse(url)) return undefined
  return `"${url}" is not an absolute http or https address with a host, such as https://example.org/handler`
}

function runtimeProblem(runtime: string): string | undefined {
  return runtimes.includes(runtime) ? undefined : `"${runtime}" is not a runtime; use ${runtimes.join(', ')}`
}

/** No server accepts more headers, and each is answered with a warning that is several times as long. */
const MAX_HEADERS = 1000

/**
 * The problems of a client's `data.headers` (interface 7.8). A name must be valid in HTTP. A value is a string that is valid in HTTP, a reference
 * object, or `{"secret": "NAME"}`. A null counts as absent.
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

/** A warning for each literal value: it is stored in git, so everybody who clones the repository has it. */
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
  // HTTP allows tabs and the printable characters of Latin-1 in a field value.
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

/** Maximum depth of the schemas: checking a schema against its meta-schema takes far longer than reading it. */
const MAX_VALUES_IN_SCHEMAS = 10_000

/**
 * The problems of a client's `data.schemas`, each at its place below `loc`. A null part counts as absent (interface 2.13); an unknown part is
 * refused like an unknown key of `data`.
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
 * The data with the schemas that its handler implies (interface 7.5): `parameters` and `outputs` if the client sent none, and `outputs` in place
 * of the client's if the parameters determine it. `inputs` is never filled in. New keys come last.
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
 * A warning for each text of a curly template that contains `\{{`, which earlier versions read literally. Without a handler nobody knows which
 * parameters are templates, so every text counts.
 */
function escapedBracesWarnings(data: JsonObject, key: string | undefined): readonly Warning[] {
  const parameters = getKey(data, 'parameters')
  if (!isJsonObject(parameters)) return []
  const warnings: Warning[] = []
  const target: (string | number)[] = ['parameters']
  // Evaluators of these versions use fstring and mustache unless they say otherwise (interface 11.17).
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
 * The data of a skill, which is content and never runs: `uri`, `parameters` and `schemas.parameters` stay (interface 7.12), and a warning names
 * each part that was left out.
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
  /** As written (`v0`), or `latest` if the uri has none. */
  readonly version: string
}

const LATEST = 'latest'

/**
 * Parses a `data.uri` of one to four parts between colons (interface 7.2): `key`, `kind:key`, `provider:kind:key`, `provider:kind:key:version`.
 * Provider and kind default to `svc` and `builtin`. Undefined if it names no handler: blank text, more than four parts, a web address (its colon
 * separates nothing), and text with an embed token, which names a handler only after it is resolved (interface 10.1).
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

/** Whether the handler is one of this service (interface 7.10, `is_managed`). */
export function isManaged(uri: HandlerUri | undefined): uri is HandlerUri {
  return uri?.provider === 'svc'
}

/** Whether the uri is the managed one whose workflows hold snippet content and never run (interface 7.12). */
export function isSkill(uri: HandlerUri | undefined): boolean {
  return isManaged(uri) && uri.key === 'skill'
}

/** The version of the handler that runs: `latest` is the highest one, and every handler has only `v0` so far. */
export function effectiveVersion(uri: HandlerUri): string {
  return uri.version === LATEST ? 'v0' : uri.version
}

/** The facts about a handler of this service that workflows need: they store its uri and its schemas, and do not run it. */
export interface HandlerInterface {
  /** Its name in the uri, `svc:<kind>:<key>:v0`. */
  readonly key: string
  readonly kind: 'builtin' | 'custom'
  readonly schemas?: BuiltInSchemas
  /** The outputs schema that these parameters determine (interface 7.5); undefined if they determine none. */
  readonly computedOutputs?: (parameters: Json | undefined) => JsonObject | undefined
  /** The value of the parameters with which they may determine it; without this, any value. */
  readonly computedWhere?: { readonly path: readonly string[]; readonly is: string }
}

/** The handlers of the provider `svc`, by kind and key (interface 7.2). */
export class HandlerTable {
  /** Handlers of both kinds, in the order of the table. */
  readonly keys: readonly string[]
  readonly #handlers: ReadonlyMap<string, HandlerInterface>

  constructor(handlers: readonly HandlerInterface[]) {
    this.keys = handlers.map(({ key }) => key)
    this.#handlers = new Map(handlers.map((handler) => [handler.key, handler]))
  }

  /** The part that can be sent to a thread: enough to know which uris exist. */
  get sent(): readonly Pick<HandlerInterface, 'key' | 'kind'>[] {
    return Array.from(this.#handlers.values(), ({ key, kind }) => ({ key, kind }))
  }

  /** `svc:builtin:chat:v0` for `chat`; an unknown key counts as a built-in. */
  uriOf(key: string): string {
    return `svc:${this.#handlers.get(key)?.kind ?? 'builtin'}:${key}:v0`
  }

  /** The handler that a uri names; undefined for another provider, and for an unknown kind, key or version. */
  find(uri: HandlerUri | undefined): HandlerInterface | undefined {
    if (!isManaged(uri) || effectiveVersion(uri) !== 'v0') return undefined
    const handler = this.#handlers.get(uri.key)
    return handler?.kind === uri.kind ? handler : undefined
  }

  /**
   * The problem of a uri of this service's provider: a sentence with the nearest keys, or undefined if it is valid (interface 7.2). Uris of other
   * providers, and versions, are not checked.
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
 * The data as readers get it. Beside a managed uri, `url` is the address at which the service runs exactly this revision, `<services
 * base>/<key>/<version>/<revision id>`, unless a url elsewhere is stored (interface 7.4). A skill has none.
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

/** The data without a url that this service derives itself, which is never stored (interface 7.4). */
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
