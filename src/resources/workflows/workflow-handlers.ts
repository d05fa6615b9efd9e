import { getKey, type Json, type JsonObject, withKey, withoutKey } from '../../json/json.ts'
import type { PresentContext } from '../../versioning/family/family.ts'
import type { BuiltInSchemas } from './schemas/built-in.ts'

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
