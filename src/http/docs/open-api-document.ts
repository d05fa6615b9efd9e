/** As much of an OpenAPI 3.1 document as a reader of it needs. */
export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly servers?: readonly { readonly url: string }[]
  /** What operations need that say nothing of their own. */
  readonly security?: readonly SecurityRequirement[]
  readonly tags?: readonly { readonly name: string; readonly description?: string }[]
  readonly paths?: Readonly<Record<string, PathItem>>
}

export interface PathItem {
  readonly parameters?: readonly Parameter[]
  readonly [method: string]: unknown
}

export interface Operation {
  readonly operationId?: string
  readonly tags?: readonly string[]
  readonly summary?: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly description?: string; readonly content?: Content }
  readonly responses?: Readonly<Record<string, Response>>
  /** An empty list means that no key is needed. */
  readonly security?: readonly SecurityRequirement[]
}

/** The scopes of a key, any of which is enough. */
export interface SecurityRequirement {
  readonly ApiKey?: readonly string[]
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: Schema
}

export interface Response {
  readonly description?: string
  readonly content?: Content
}

/** Media type → what is in it. */
export type Content = Readonly<
  Record<string, { readonly schema?: Schema; readonly example?: unknown; readonly examples?: Examples }>
>

export type Examples = Readonly<Record<string, { readonly value?: unknown }>>

/** A JSON Schema of draft 2020-12; `true` allows everything, `false` nothing. */
export type Schema = boolean | SchemaObject

export interface SchemaObject {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly title?: string
  readonly description?: string
  readonly format?: string
  readonly pattern?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly example?: unknown
  readonly examples?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema
  readonly items?: Schema
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}

/**
 * What a local reference (`#/components/schemas/Workflow`) points at in the document, followed to its end; objects that
 * are no reference come back as they are, references that point nowhere as an empty object.
 */
export function dereference<T extends object>(document: OpenApiDocument, value: T): T {
  let current: unknown = value
  for (let steps = 0; steps < 20; steps++) {
    const ref = (current as { readonly $ref?: unknown }).$ref
    if (typeof ref !== 'string') return current as T // what a reference in this place is for
    current = pointedAt(document, ref)
  }
  return {} as T // a circle of references: as good as nowhere
}

function pointedAt(document: OpenApiDocument, ref: string): object {
  const keys = ref.replace(/^#\/?/, '').split('/').map(unescapePointer)
  const found = keys.reduce<unknown>(
    (value, key) => (value as Record<string, unknown> | undefined)?.[key],
    document,
  )
  return typeof found === 'object' && found !== null ? found : {}
}

function unescapePointer(key: string): string {
  return decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')
}
