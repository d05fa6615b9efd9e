import type { FieldProblem } from '../../errors.ts'
import {
  entriesOf,
  fromEntries,
  getKey,
  hasKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  keysOf,
  numberOf,
  withKey,
  withoutKey,
} from '../../json/json.ts'
import type { AcceptedDocument } from '../../versioning/family/document-family.ts'
import type { PayloadContext, Warning } from '../../versioning/family/family.ts'
import {
  dropServicesUrl,
  type HandlerInterface,
  handlerOf,
  type HandlerTable,
  isSkill,
  parseHandlerUri,
} from './workflow-handlers.ts'
import { MOST_LISTED, problemsRefusal, typeName, UNKNOWN_KEY, unknownKey } from '../documents/problems.ts'
import { countValues } from '../../json/count-values.ts'
import { schemaProblems } from './schemas/schema-problems.ts'

/** More than any server takes; each is answered with a warning several times as long. */
const MOST_HEADERS = 1000

/**
 * What is wrong with a `data.headers` that a client sent (interface 7.8). A name must be one HTTP allows; a
 * value is a string HTTP allows, a reference object, or `{"secret": "NAME"}`. A value that is null counts as absent.
 */
function headersProblems(headers: Json, loc: readonly (string | number)[]): readonly FieldProblem[] {
  if (!isJsonObject(headers)) {
    return [{ loc, msg: `headers must be an object, but it is ${typeName(headers)}`, type: 'object_type' }]
  }
  const members = entriesOf(headers)
  if (members.length > MOST_HEADERS) {
    const msg = `headers must be at most ${MOST_HEADERS}, but there are ${members.length}`
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

/** The schemas a workflow may carry: of its configuration, of a request, of an answer (interface 7.6). */
const schemaParts: readonly string[] = ['parameters', 'inputs', 'outputs']

/** So many values the schemas may hold at any depth: to check one against its meta-schema is far more work than to read it. */
const MOST_VALUES = 10_000

/**
 * What is wrong with a `data.schemas` that a client sent, each problem at its place below `loc`. A part that is null
 * counts as absent (interface 2.13); a key that is no part is refused like an unknown key of `data`.
 */
function workflowSchemasProblems(schemas: Json, loc: readonly (string | number)[]): readonly FieldProblem[] {
  if (!isJsonObject(schemas)) {
    const msg = `schemas must be an object with the keys ${schemaParts.join(', ')}, but it is ${typeName(schemas)}`
    return [{ loc, msg, type: 'object_type' }]
  }
  if (countValues(schemas, MOST_VALUES) > MOST_VALUES) {
    const msg = `schemas must hold at most ${MOST_VALUES} values in all; send simpler ones`
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
 * A `data` object as a client sent it, made ready to store (interface 7.1, 7.5): nulls left out,
 * a url of our own dropped, the schemas of a built-in handler filled in, a skill reduced to what a skill has. Refuses
 * with one `invalid_request` that lists every problem at its place below `context.loc`; an unknown key is one of them.
 */
export function acceptWorkflowData(
  data: Json,
  context: PayloadContext,
  handlers: HandlerTable,
): AcceptedDocument {
  if (!isJsonObject(data)) {
    throw problemsRefusal('invalid_request', [
      { loc: context.loc, msg: `data must be an object, but it is ${typeName(data)}`, type: 'object_type' },
    ])
  }
  refuseProblems(data, context.loc, handlers)
  const sent = withoutNulls(data, 'schemas', 'headers')
  const uri = handlerOf(sent)
  const own = dropServicesUrl(sent, context.servicesBase)
  if (isSkill(uri)) return reduceToSkill(own)
  const headers = getKey(own, 'headers')
  return {
    data: fillSchemas(own, handlers.find(uri)),
    warnings: [
      ...(isJsonObject(headers) ? literalHeaderWarnings(headers) : []),
      ...escapedBracesWarnings(own, uri?.key),
    ],
  }
}

const MAX_ESCAPES_NAMED = 10

/** Parameters of handlers that hold templates. */
const TEMPLATES: readonly string[] = ['prompt', 'messages', 'prompt_template', 'json_schema']

/**
 * One warning for each text of a curly template that holds `\{{`, which earlier versions read as it stands. Without a handler nobody
 * knows what is a template, so every text of the parameters may be one.
 */
function escapedBracesWarnings(data: JsonObject, key: string | undefined): readonly Warning[] {
  const parameters = getKey(data, 'parameters')
  if (!isJsonObject(parameters)) return []
  const warnings: Warning[] = []
  const look = (value: Json, target: readonly (string | number)[], isCurly: boolean): void => {
    if (warnings.length >= MAX_ESCAPES_NAMED) return
    if (typeof value === 'string') {
      if (isCurly && value.includes('\\{{'))
        warnings.push({ code: 'escaped_braces', message: ESCAPED_BRACES, target })
    } else if (isJsonArray(value)) {
      for (const [index, item] of value.entries()) look(item, [...target, index], isCurly)
    } else if (isJsonObject(value)) {
      const format = getKey(value, 'template_format')
      const isCurlyHere = typeof format === 'string' ? format === 'curly' : isCurly
      for (const [name, member] of entriesOf(value)) look(member, [...target, name], isCurlyHere)
    }
  }
  const format = getKey(parameters, 'template_format')
  const isCurly = typeof format === 'string' ? format === 'curly' : !isJudgeOfAnotherFormat(parameters, key)
  for (const [name, member] of entriesOf(parameters)) {
    if (key === undefined || TEMPLATES.includes(name)) look(member, ['parameters', name], isCurly)
  }
  return warnings
}

/** Judges of these versions are fstring and mustache unless they say something else (interface 11.17). */
function isJudgeOfAnotherFormat(parameters: JsonObject, key: string | undefined): boolean {
  return key === 'auto_ai_critique' && ['2', '5'].includes(String(getKey(parameters, 'version')))
}

const ESCAPED_BRACES =
  'the text holds "\\{{", which writes {{ as text, so that no variable begins there; earlier versions kept the backslash and filled the variable in. For a backslash before a variable write "\\\\{{"'

/** Refuses what is not of the closed shape of `data`; sentences are made only of what the refusal names. */
function refuseProblems(data: JsonObject, loc: readonly (string | number)[], handlers: HandlerTable): void {
  const problems: FieldProblem[] = []
  let unnamed = 0
  for (const [key, value] of entriesOf(data)) {
    if (value === null) continue
    if (problems.length >= MOST_LISTED && !fields.has(key)) unnamed++
    else for (const problem of fieldProblems(key, value, [...loc, key], handlers)) problems.push(problem)
  }
  if (problems.length > 0) throw problemsRefusal('invalid_request', problems, problems.length + unnamed)
}

/** The object without members that are null, and so its named members, one level down: null equals absent (interface 2.13). */
function withoutNulls(object: JsonObject, ...inside: readonly string[]): JsonObject {
  const members: [string, Json][] = []
  for (const [key, value] of entriesOf(object)) {
    if (value === null) continue
    members.push([key, inside.includes(key) && isJsonObject(value) ? withoutNulls(value) : value])
  }
  return fromEntries(members)
}

function fieldProblems(
  key: string,
  value: Json,
  loc: readonly (string | number)[],
  handlers: HandlerTable,
): readonly FieldProblem[] {
  const check = fields.get(key)
  if (check !== undefined) return check(value, loc, handlers)
  return [{ loc, msg: unknownKey(key, 'data', [...fields.keys()]), type: UNKNOWN_KEY }]
}

type Check = (
  value: Json,
  loc: readonly (string | number)[],
  handlers: HandlerTable,
) => readonly FieldProblem[]

/** The closed shape of `data`, in the order of the interface. */
const fields: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['uri', text('uri', 'handler_uri', (value, handlers) => handlers.uriProblem(parseHandlerUri(value)))],
  ['url', text('url', 'url', urlProblem)],
  ['schemas', workflowSchemasProblems],
  ['parameters', parametersProblems],
  ['runtime', text('runtime', 'enum', runtimeProblem)],
  ['script', text('script', 'string_type', () => undefined)],
  ['headers', headersProblems],
])

/** A check of a field that must be a string, and then pass `problem`. */
function text(
  name: string,
  type: string,
  problem: (value: string, handlers: HandlerTable) => string | undefined,
): Check {
  return (value, loc, handlers) => {
    if (typeof value !== 'string') {
      return [{ loc, msg: `${name} must be a string, but it is ${typeName(value)}`, type: 'string_type' }]
    }
    const msg = problem(value, handlers)
    return msg === undefined ? [] : [{ loc, msg, type }]
  }
}

function urlProblem(url: string): string | undefined {
  // URL alone would also read "http:x" and what has spaces in it
  if (/^https?:\/\/[^/?#\s\\][^\s\\]*$/i.test(url) && URL.canParse(url)) return undefined
  return `"${url}" is not an absolute http or https address with a host, such as https://example.org/handler`
}

/** The languages a custom code workflow may be written in (interface 7.7). */
export const runtimes: readonly string[] = ['python', 'typescript', 'javascript']

function runtimeProblem(runtime: string): string | undefined {
  return runtimes.includes(runtime) ? undefined : `"${runtime}" is not a runtime; use ${runtimes.join(', ')}`
}

function parametersProblems(value: Json, loc: readonly (string | number)[]): readonly FieldProblem[] {
  if (isJsonObject(value)) return []
  return [{ loc, msg: `parameters must be an object, but it is ${typeName(value)}`, type: 'object_type' }]
}

/**
 * The data with the schemas that a handler implies (interface 7.5): `parameters` and `outputs` where the
 * client sent none, and `outputs` over whatever was sent where the configured values determine it. `inputs` is never
 * filled. Keys that are added come last.
 */
export function fillSchemas(data: JsonObject, handler: HandlerInterface | undefined): JsonObject {
  const builtIn = handler?.schemas
  if (builtIn === undefined) return data
  const sent = getKey(data, 'schemas')
  const before: JsonObject = isJsonObject(sent) ? sent : {}
  let schemas = before
  for (const part of ['parameters', 'outputs'] as const) {
    const schema = builtIn[part]
    if (schema !== undefined && !hasKey(schemas, part)) schemas = withKey(schemas, part, schema)
  }
  const computed = handler?.computedOutputs?.(getKey(data, 'parameters'))
  if (computed !== undefined) schemas = withKey(schemas, 'outputs', computed)
  return schemas === before ? data : withKey(data, 'schemas', schemas)
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
