import { JsonTextError } from '../../json/json-text-error.ts'
import { type Json, type JsonObject, getKey } from '../../json/json.ts'
import { parseLargeJson } from '../../json/parse-json.ts'
import { stringifyJson } from '../../json/stringify-json.ts'
import { HandlerFailure } from '../handler-failure.ts'
import type { Handler, HandlerDefinition, HandlerRequest } from '../handler.ts'
import { callHook } from './call-hook.ts'
import { hookHeaders } from './hook-headers.ts'
import { maskSecrets } from './mask-secrets.ts'
import { neededHookUrl } from './needed-hook-url.ts'

/** What asks the user's server, with its time limit (interface 11.16, 11.15). */
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
 * `svc:custom:hook:v0` (interface 11.15): posts the request to `<data.url>/invoke` with the headers of `data.headers`, and gives
 * the JSON that is answered as outputs, or the text if it is no JSON. What whoever asked us sent as credentials goes nowhere. Secrets
 * that went out in headers are masked in whatever comes back.
 */
export function hook(timeoutMs: number): Handler {
  return async (request, context) => {
    const url = invokeUrl(request.data, context.outgoing.policy.allowPrivate)
    const { headers, secrets } = await hookHeaders(getKey(request.data, 'headers') ?? {}, context)
    const text = await callHook({ url, headers, secrets, body: bodyOf(request), timeoutMs }, context)
    return maskSecrets(await outputsOf(text), secrets)
  }
}

/** `/invoke` below the path of the url, whose query stays behind it. */
function invokeUrl(data: JsonObject, allowPrivate: boolean): string {
  const given = neededHookUrl(getKey(data, 'url'), 'url', allowPrivate)
  const url = new URL(given)
  url.pathname = `${withoutSlashes(url.pathname)}/invoke`
  url.hash = ''
  return url.href
}

/** Without the slashes at its end; `/\/+$/` would take quadratic time for many that stand elsewhere. */
function withoutSlashes(path: string): string {
  let end = path.length
  while (path.charAt(end - 1) === '/') end--
  return path.slice(0, end)
}

/** Flat, and without what the request does not have. */
function bodyOf({ inputs, parameters, outputs, trace, testcase }: HandlerRequest): string {
  return stringifyJson({
    inputs: inputs ?? {},
    parameters,
    ...(outputs === undefined || outputs === null ? {} : { outputs }),
    ...(trace === undefined ? {} : { trace }),
    ...(testcase === undefined ? {} : { testcase }),
  })
}

async function outputsOf(text: string): Promise<Json> {
  try {
    return await parseLargeJson(text)
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error
    if (error.kind === 'syntax') return text
    throw new HandlerFailure(
      'v0:workflows:custom-hook-client-error',
      `The hook answered JSON that cannot be kept as it is: ${error.message}`,
    )
  }
}
