import {
  JsonTextError,
  type Json,
  type JsonObject,
  getKey,
  entriesOf,
  isJsonObject,
  keysOf,
  numberOf,
  ExactNumber,
  parseJson,
  stringifyJson,
} from '../../../base/json.ts'
import { HandlerFailure, invalidParameter, parameterProblem, typeWord } from '../handler-failure.ts'
import type { Handler, HandlerDefinition, HandlerRequest, HandlerContext } from '../handler.ts'
import { callHook } from './call-hook.ts'
import { maskSecrets } from './mask-secrets.ts'
import { neededHookUrl } from './needed-hook-url.ts'
import { COMMAND } from '../../../command-name.ts'

/** The headers for a hook. */
interface HookHeaders {
  /** By lowercase name. */
  readonly headers: ReadonlyMap<string, string>
  /** Secret values among them. */
  readonly secrets: readonly string[]
}

/**
 * The headers of a hook from `data.headers` (interface 11.15, 7.8): literals unchanged, numbers and booleans
 * as text, `{"secret": NAME}` as the project's secret; null counts as absent. Throws a `HandlerFailure` for
 * an unknown secret, for reference objects, which cannot be sent, and for headers that belong to the
 * connection. Failures show no values.
 */
async function hookHeaders(given: Json, context: HandlerContext): Promise<HookHeaders> {
  if (given === null) return { headers: new Map(), secrets: [] }
  if (!isJsonObject(given)) throw invalidParameter('headers', 'dict', typeWord(given))
  const members = entriesOf(given)
  if (members.length > MAX_HEADERS)
    throw parameterProblem(
      'headers',
      `There are ${members.length} headers; a hook is sent at most ${MAX_HEADERS}.`,
    )
  const headers = new Map<string, string>()
  const secrets: string[] = []
  let length = 0
  for (const [name, value] of members) {
    if (value === null) continue
    checkName(name)
    const secret = isJsonObject(value) ? await secretValue(name, value, context) : undefined
    if (secret !== undefined) secrets.push(secret)
    const text = checkedValue(name, secret ?? literal(name, value))
    length += name.length + text.length
    if (length > MAX_HEADER_CHARACTERS)
      throw parameterProblem(
        'headers',
        `The headers have more than ${MAX_HEADER_CHARACTERS} characters, the most that a hook is sent.`,
      )
    headers.set(name.toLowerCase(), text)
  }
  return { headers, secrets }
}

/** No server accepts more headers; each may be a secret to decrypt, and to search for in the answer. */
const MAX_HEADERS = 100
/** Maximum length of all names and values together; leaves room for a secret of any size. */
const MAX_HEADER_CHARACTERS = 128 * 1024

/**
 * Headers about how this connection carries the message (RFC 9110 7.6.1, RFC 9112 6). A wrong one could
 * truncate the message, or let a part of the body pass for another request. Answers are read uncompressed.
 */
const OF_THE_CONNECTION = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'content-encoding',
  'accept-encoding',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'upgrade',
  'expect',
])

function checkName(name: string): void {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) throw problem(name, 'is not a name that HTTP allows.')
  if (OF_THE_CONNECTION.has(name.toLowerCase()))
    throw problem(name, 'is set by the connection itself; leave it out of data.headers.')
}

async function secretValue(name: string, value: Json, context: HandlerContext): Promise<string> {
  const secret = isJsonObject(value) && keysOf(value).length === 1 ? getKey(value, 'secret') : undefined
  if (typeof secret !== 'string')
    throw problem(
      name,
      'is an object other than {"secret": "NAME"}; references are not resolved in headers: send a string or a secret.',
    )
  const found = await context.secret(secret)
  if (found !== undefined) return found
  throw new HandlerFailure(
    'v0:schemas:invalid-secrets',
    `Missing secret:\nAt 'headers.${name}'\nThe project has no secret '${secret}'. Set it:  ${COMMAND} secrets set ${secret} ` +
      `--project ${context.project}`,
  )
}

function literal(name: string, value: Json): string {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return String(value)
  if (value instanceof ExactNumber) return value.literal
  if (numberOf(value) !== undefined) return String(value)
  throw problem(name, 'is an array; send a string or {"secret": "NAME"}.')
}

function checkedValue(name: string, value: string): string {
  // an HTTP field value may hold tab and the printable characters of Latin-1
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return value
  throw problem(
    name,
    'holds a line break, a control character or a character outside Latin-1, which HTTP cannot carry.',
  )
}

function problem(name: string, sentence: string): HandlerFailure {
  return parameterProblem(`headers.${name}`, `The header '${name}' ${sentence}`)
}

/** The handler with its time limit in milliseconds (interface 11.16, 11.15). */
export const hookDefinition: HandlerDefinition = {
  key: 'hook',
  kind: 'custom',
  template: {
    name: 'Custom Hook',
    description: 'Sends the request to an HTTP address of yours, given as url, and answers what comes back.',
    roles: 'both',
    categories: [],
  },
  run: hook(30_000),
}

/**
 * `svc:custom:hook:v0` (interface 11.15): posts the request to `<data.url>/invoke` with the headers in
 * `data.headers`. The outputs are the answer as JSON, or as text if it is not JSON. The caller's own
 * credentials are not sent on. Secrets sent in headers are masked in the answer.
 */
export function hook(timeoutMs: number): Handler {
  return async (request, context) => {
    const url = invokeUrl(request.data, context.outgoing.policy.allowPrivate)
    const { headers, secrets } = await hookHeaders(getKey(request.data, 'headers') ?? {}, context)
    const text = await callHook({ url, headers, secrets, body: bodyOf(request), timeoutMs }, context)
    return maskSecrets(await outputsOf(text), secrets)
  }
}

/** Adds `/invoke` to the path of the url and keeps its query. */
function invokeUrl(data: JsonObject, allowPrivate: boolean): string {
  const given = neededHookUrl(getKey(data, 'url'), 'url', allowPrivate)
  const url = new URL(given)
  url.pathname = `${withoutSlashes(url.pathname)}/invoke`
  url.hash = ''
  return url.href
}

/** Removes trailing slashes; `/\/+$/` would take quadratic time for many slashes elsewhere. */
function withoutSlashes(path: string): string {
  let end = path.length
  while (path.charAt(end - 1) === '/') end--
  return path.slice(0, end)
}

/** A flat body without absent parts. */
function bodyOf({ inputs, parameters, outputs, trace, testcase }: HandlerRequest): string {
  return stringifyJson({
    inputs: inputs ?? {},
    parameters,
    ...(outputs === undefined || outputs === null ? {} : { outputs }),
    ...(trace === undefined ? {} : { trace }),
    ...(testcase === undefined ? {} : { testcase }),
  })
}

function outputsOf(text: string): Json {
  try {
    return parseJson(text)
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error
    if (error.kind === 'syntax') return text
    throw new HandlerFailure(
      'v0:workflows:custom-hook-client-error',
      `The hook answered JSON that cannot be kept as it is: ${error.message}`,
    )
  }
}
