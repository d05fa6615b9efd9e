import type { FieldProblem } from '../../errors.ts'
import {
  entriesOf,
  fromEntries,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../../json/json.ts'
import type { AcceptedDocument } from '../../versioning/family/document-family.ts'
import type { PayloadContext, Warning } from '../../versioning/family/family.ts'
import type { HandlerTable } from './handler-table.ts'
import { handlerOf, isSkill, parseHandlerUri } from './handler-uri.ts'
import { fillSchemas } from './schemas/schema-filling.ts'
import { MOST_LISTED, problemsRefusal, UNKNOWN_KEY } from '../documents/problems-refusal.ts'
import { runtimes } from './script-file.ts'
import { reduceToSkill } from './skill-reduction.ts'
import { typeName } from '../documents/type-name.ts'
import { unknownKey } from '../documents/unknown-key.ts'
import { headersProblems, literalHeaderWarnings } from './workflow-headers.ts'
import { workflowSchemasProblems } from './workflow-schemas.ts'
import { dropServicesUrl } from './workflow-url.ts'

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

/** So many places of one commit are named. */
const MOST_ESCAPES = 10

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
    if (warnings.length >= MOST_ESCAPES) return
    if (typeof value === 'string') {
      if (isCurly && value.includes('\\{{'))
        warnings.push({ code: 'escaped_braces', message: ESCAPED_BRACES, target })
    } else if (isJsonArray(value)) {
      value.forEach((item, index) => look(item, [...target, index], isCurly))
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
  return fromEntries(
    entriesOf(object)
      .filter(([, value]) => value !== null)
      .map(([key, value]) => [
        key,
        inside.includes(key) && isJsonObject(value) ? withoutNulls(value) : value,
      ]),
  )
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

function runtimeProblem(runtime: string): string | undefined {
  return runtimes.includes(runtime) ? undefined : `"${runtime}" is not a runtime; use ${runtimes.join(', ')}`
}

function parametersProblems(value: Json, loc: readonly (string | number)[]): readonly FieldProblem[] {
  if (isJsonObject(value)) return []
  return [{ loc, msg: `parameters must be an object, but it is ${typeName(value)}`, type: 'object_type' }]
}
