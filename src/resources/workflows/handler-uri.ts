import { getKey, type JsonObject } from '../../json/json.ts'

/** The parts of a `data.uri`, missing ones filled in. */
export interface HandlerUri {
  readonly provider: string
  readonly kind: string
  readonly key: string
  /** As written (`v0`), or `latest` when the uri names none. */
  readonly version: string
}

/**
 * Reads a `data.uri` of one to four parts between colons (contract/workflows 10.1): `key`, `kind:key`,
 * `provider:kind:key`, `provider:kind:key:version`. Provider and kind default to `svc` and `builtin`. Undefined for
 * what names no handler: blank text, more than four parts, a web address, whose colon separates nothing, and text that holds
 * an embed token, which names one only once it is resolved (contract/resolve 2).
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

/** Whether the service itself provides the handler (interface 2.3, `is_managed`). */
export function isManaged(uri: HandlerUri | undefined): uri is HandlerUri {
  return uri?.provider === 'svc'
}

/** Whether the uri is the managed one whose workflows hold snippet content and never run (contract/workflows 10.3). */
export function isSkill(uri: HandlerUri | undefined): boolean {
  return isManaged(uri) && uri.key === 'skill'
}

/**
 * What is wrong with a uri of the service's own provider: a sentence naming the keys it could have been, or undefined
 * if it is fine (ruling 4). Other providers' uris are their own business, and versions are not checked.
 */
export function handlerUriProblem(uri: HandlerUri | undefined): string | undefined {
  if (!isManaged(uri)) return undefined
  const keys = keysByKind.get(uri.kind)
  if (keys === undefined) {
    return `"svc:${uri.kind}:${uri.key}" is not a handler of this service; its kinds are ${[...keysByKind.keys()].join(' and ')}`
  }
  if (keys.includes(uri.key)) return undefined
  return `"svc:${uri.kind}:${uri.key}" is not a handler of this service; the keys of kind ${uri.kind} are ${keys.join(', ')}`
}

/** The version a uri runs: `latest` is the highest that exists, and every handler has exactly `v0` so far. */
export function effectiveVersion(uri: HandlerUri): string {
  return uri.version === LATEST ? 'v0' : uri.version
}

const LATEST = 'latest'

/** The keys of all handlers of this service, of both kinds. */
export function managedKeys(): readonly string[] {
  return [...keysByKind.values()].flat()
}

/** The handlers of the provider `svc`, by kind (contract/workflows 10.5). */
const keysByKind: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'builtin',
    [
      'chat',
      'completion',
      'agent',
      'llm',
      'match',
      'prompt',
      'echo',
      'human',
      'skill',
      'auto_exact_match',
      'auto_regex_test',
      'field_match_test',
      'json_multi_field_match',
      'auto_webhook_test',
      'auto_custom_code_run',
      'auto_ai_critique',
      'auto_starts_with',
      'auto_ends_with',
      'auto_contains',
      'auto_contains_any',
      'auto_contains_all',
      'auto_contains_json',
      'auto_json_diff',
      'auto_levenshtein_distance',
      'auto_similarity_match',
      'auto_semantic_similarity',
    ],
  ],
  ['custom', ['code', 'hook', 'feedback', 'mock']],
])
