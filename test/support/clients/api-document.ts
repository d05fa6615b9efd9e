/** A JSON Schema, looked into freely: it is this service's own. */
export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: JsonSchema | boolean
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
  readonly minimum?: number
  readonly maximum?: number
}

/** One operation of the OpenAPI document. */
export interface Operation {
  readonly name: string
  readonly method: string
  readonly path: string
  /** The scopes of which a key needs one; none where no key is needed. */
  readonly scopes: readonly string[]
  readonly parameters: readonly Parameter[]
  readonly body: { readonly schema: JsonSchema; readonly example: unknown } | undefined
  /** Takes a file, as a form or as it is. */
  readonly isUpload: boolean
  /** What a 200 may be, by media type; undefined where the document says nothing of it. */
  readonly answers: Readonly<Record<string, { readonly schema?: JsonSchema }>> | undefined
  /** Answers events for as long as somebody listens. */
  readonly isEndless: boolean
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: JsonSchema
}

/** What the service says of itself: its operations, and the schemas they share. */
export interface ApiDocument {
  readonly operations: readonly Operation[]
  readonly schemas: Readonly<Record<string, JsonSchema>>
}

/** Reads `/openapi.json` of a running server. git over HTTP is left out: what it takes is no JSON. */
export async function readApiDocument(url: string): Promise<ApiDocument> {
  const answer = await fetch(`${url}/openapi.json`)
  const document = withMembers((await answer.json()) as WrittenDocument) // OpenAPI 3.1, which a test of its own holds it to
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, written]) =>
      operationOf(document, method.toUpperCase(), path, written),
    ),
  )
  return {
    operations: operations.filter(({ path }) => !path.startsWith('/git/')),
    schemas: document.components.schemas,
  }
}

/** The document with what objects are made of (`allOf`) in the objects themselves. */
export function withMembers<T extends { readonly components: object }>(document: T): T {
  const { schemas } = document.components as { readonly schemas: Readonly<Record<string, JsonSchema>> }
  return whole(document) as T // only schemas have changed

  function whole(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(whole)
    if (typeof value !== 'object' || value === null) return value
    const own: JsonSchema = Object.fromEntries(Object.entries(value).map(([key, it]) => [key, whole(it)]))
    if (!Array.isArray(own.allOf)) return own
    const { allOf, ...rest } = own
    const parts = [
      ...allOf.map(({ $ref = '' }) => whole(schemas[$ref.split('/').at(-1) ?? '']) as JsonSchema),
      rest,
    ]
    return {
      ...rest,
      type: 'object',
      properties: Object.assign({}, ...parts.map(({ properties }) => properties)) as object,
      required: parts.flatMap(({ required = [] }) => required),
    }
  }
}

interface WrittenDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, WrittenOperation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly parameters: Readonly<Record<string, Parameter>>
    readonly responses: Readonly<Record<string, WrittenResponse>>
  }
  /** What an operation needs that says nothing of its own. */
  readonly security: readonly Needed[]
}

interface WrittenOperation {
  readonly security?: readonly Needed[]
  readonly parameters?: readonly (Parameter | Shared)[]
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: unknown }>>
  }
  readonly responses: { readonly 200: WrittenResponse | Shared }
}

interface WrittenResponse {
  readonly content?: Operation['answers']
}

/** Something that stands among the components, under the last step of its address. */
interface Shared {
  readonly $ref: string
}

interface Needed {
  readonly ApiKey?: readonly string[]
}

function found<T extends object>(it: T | Shared, among: Readonly<Record<string, T>>): T {
  if (!('$ref' in it)) return it
  const there = among[it.$ref.split('/').at(-1) ?? '']
  if (there) return there
  throw new Error(`/openapi.json does not hold ${it.$ref}`)
}

function operationOf(
  { components, security: common }: WrittenDocument,
  method: string,
  path: string,
  written: WrittenOperation,
): Operation {
  const { security = common, parameters = [], requestBody, responses } = written
  const json = requestBody?.content['application/json']
  const isUpload = requestBody?.content['multipart/form-data'] !== undefined
  const answers = found(responses[200], components.responses).content
  return {
    name: `${method} ${path}`,
    method,
    path,
    scopes: security.flatMap(({ ApiKey = [] }) => ApiKey),
    parameters: parameters.map((parameter) => found(parameter, components.parameters)),
    body: json && !isUpload ? { schema: json.schema, example: json.example } : undefined,
    isUpload,
    answers,
    isEndless: Object.keys(answers ?? {}).join() === 'text/event-stream',
  }
}
