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

const LATEST = 'latest'
