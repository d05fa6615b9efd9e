import type { Json, JsonObject } from '../../json/json.ts'
import { effectiveVersion, isManaged, type HandlerUri } from './handler-uri.ts'
import type { BuiltInSchemas } from './schemas/built-in.ts'

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
    const all = [...this.#handlers.values()]
    const kinds = [...new Set(all.map(({ kind }) => kind))]
    const isKind = kinds.some((kind) => kind === uri.kind)
    const keys = all.filter(({ kind }) => kind === uri.kind).map(({ key }) => key)
    const known = isKind
      ? `the keys of kind ${uri.kind} are ${keys.join(', ')}`
      : `its kinds are ${kinds.join(' and ')}`
    return `"svc:${uri.kind}:${uri.key}" is not a handler of this service; ${known}`
  }
}
