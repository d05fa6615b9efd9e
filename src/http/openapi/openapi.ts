import { z } from 'zod'
import { TimeSlice } from '../../base/scheduling.ts'
import { FILE_MEDIA_TYPES } from '../body/upload.ts'
import { gitPaths } from '../git/git-paths.ts'
import type { Endpoint } from '../routing/endpoint.ts'
import { withheldAnswer } from '../routing/answers.ts'
import { catalogPreset, catalogTemplate } from '../schemas/catalog.ts'
import { parent } from '../schemas/spellings.ts'
import { resultError } from '../schemas/evaluation.ts'
import { listWindow, orderedWindow, recordObject, referenced } from '../schemas/record-schemas.ts'
import { orderedWindowing, pageWindowing, reference, uuid, windowing } from '../schemas/request-schemas.ts'
import type { SurfaceContext } from '../surface-context.ts'
import { INTRODUCTION, TAGS } from './introduction.ts'
import type { JsonSchema } from './json-schema.ts'
import { fieldParameters, openApiQueryParameters, type Parts } from './openapi-parameters.ts'
import { groupMembers } from './member-groups.ts'
import { inOrderOfReference, share } from './share.ts'
import { takesBasic } from '../request.ts'
import { withoutSpellings } from './without-spellings.ts'
import { PROBLEMS } from '../problem.ts'
import { SCOPES } from '../../access/keys.ts'

/**
 * The OpenAPI 3.1 document of the endpoints, built from the schemas that validate them. Records and shared
 * parts of requests are named components; everything else is inline. Routes without an endpoint are described
 * separately. Building takes a second or more, so it pauses after each schema, operation and path.
 */
export async function openApiDocument(
  endpoints: readonly Endpoint[],
  surfaces: readonly SurfaceContext[],
): Promise<object> {
  const slice = new TimeSlice()
  const named = namedSchemas(surfaces)
  const parts = sharedParts()
  const components = {
    schemas: { Problem: problemSchema() } as Record<string, JsonSchema>,
    parameters: { IdempotencyKey: IDEMPOTENCY_KEY },
    responses: {
      Problem: {
        description: 'Refused; see `code` and `detail`',
        content: content('application/problem+json', ref('Problem')),
      },
    },
  }
  for (const [schema, name] of named) {
    const others = new Map([...named].filter(([it]) => it !== schema))
    components.schemas[name] = toJsonSchema(schema, ioOf(schema), others)
    await slice.pause()
  }
  const own: Record<string, Record<string, object>> = {}
  for (const endpoint of endpoints) {
    const path = endpoint.path.replaceAll(/[:*](\w+)/g, '{$1}')
    own[path] = { ...own[path], [endpoint.method.toLowerCase()]: operation(endpoint, named, parts) }
    await slice.pause()
  }
  const whole = structuredClone({ ...own, ...gitPaths(), ...METRICS_PATH, ...OPEN_PATHS })
  const singulars = surfaces.map(({ surface }) => surface.singular)
  await slice.run(groupMembers(whole, components.schemas, singulars))
  const paths = await slice.run(share(whole, components))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Branchpoint',
      version: '1',
      description: INTRODUCTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: keyWith('read'),
    tags: TAGS,
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      ...components,
      schemas: inOrderOfReference(components.schemas),
    },
  }
}

const OPEN_PATHS = Object.fromEntries(
  Object.entries({
    '/health': 'The process is alive',
    '/ready':
      'Every project is open; `problems` counts what is wrong. To a key with the scope `read`, `damaged` names the repositories of its ' +
      'project that are not served, `traces` what keeps its traces from being stored',
    '/openapi.json': 'This document',
    '/docs': 'The guide, as pages',
    '/docs/api': 'This document as a page',
    '/': 'What answers here, its version and how to get a key: as a page to whoever prefers HTML, as JSON otherwise',
  }).map(([path, summary]) => [
    path,
    { get: { tags: ['service'], summary, security: [], responses: { 200: { description: summary } } } },
  ]),
)

const METRICS_PATH = {
  '/metrics': {
    get: {
      tags: ['service'],
      summary: 'What the server does and how busy it is, for Prometheus',
      operationId: 'getMetrics',
      description: 'Needs a key with the scope `read`, unless the server was started with METRICS=open.',
      responses: {
        200: {
          description: 'In the text format of Prometheus',
          content: { 'text/plain': { schema: { type: 'string' } } },
        },
        default: { $ref: '#/components/responses/Problem' },
      },
    },
  },
}

function namedSchemas(surfaces: readonly SurfaceContext[]): Map<z.ZodType, string> {
  const named = new Map<z.ZodType, string>([
    [reference, 'Reference'],
    [windowing, 'Windowing'],
    [orderedWindowing, 'OrderedWindowing'],
    [pageWindowing, 'PageWindowing'],
    [catalogTemplate, 'CatalogTemplate'],
    [catalogPreset, 'CatalogPreset'],
    [withheldAnswer, 'WithheldAnswer'],
    [recordObject, 'JsonObject'],
    [listWindow, 'Next'],
    [orderedWindow, 'OrderedNext'],
    [referenced, 'Referenced'],
    [parent, 'Parent'],
    [resultError, 'ResultError'],
  ])
  for (const { surface, records } of surfaces) {
    const name = surface.singular[0]?.toUpperCase() + surface.singular.slice(1)
    named.set(records.artifact, name)
    named.set(records.variant, `${name}Variant`)
    named.set(records.revision, `${name}Revision`)
    named.set(records.flat, `Simple${name}`)
  }
  return named
}

function operation(endpoint: Endpoint, named: ReadonlyMap<z.ZodType, string>, parts: Parts): object {
  const { method, input, optionalBody, example, output, recall, tag, summary, path } = endpoint
  const security = securityOf(endpoint)
  const schema = input && toJsonSchema(input, 'input', named)
  const { upload, downloads, streams = [], failure } = endpoint
  const parameters = [
    ...[...path.matchAll(/[:*](\w+)/g)].map(([, name = '']) => ({
      name,
      in: 'path',
      required: true,
      schema: toJsonSchema(endpoint.params?.shape[name] ?? uuid, 'input', named),
    })),
    ...(method === 'GET' && schema ? openApiQueryParameters(schema, endpoint, parts) : []),
    ...(upload && schema ? fieldParameters(schema) : []),
    ...(recall ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
  ]
  return {
    tags: [tag],
    summary,
    operationId: `${method.toLowerCase()}${path.replaceAll(/[/:*_-]+(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
    ...(security && { security }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(upload ? { requestBody: uploadBody(schema) } : {}),
    ...(schema && method !== 'GET' && !upload
      ? {
          requestBody: {
            ...(optionalBody ? {} : { required: true }),
            content: { 'application/json': { schema, ...(example ? { example } : {}) } },
          },
        }
      : {}),
    responses: {
      200: {
        description: 'OK',
        content: downloads
          ? contents(downloads, FILE)
          : {
              ...content('application/json', toJsonSchema(output, 'output', named)),
              ...contents(streams, RECORDS),
            },
      },
      default: failure
        ? {
            description: 'Failed, or refused: see `code` and the message or `detail`',
            content: {
              ...content('application/json', toJsonSchema(failure, 'output', named)),
              ...content('application/problem+json', ref('Problem')),
            },
          }
        : { $ref: '#/components/responses/Problem' },
    },
  }
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Repeating the request with the same key and body within 24 hours answers the first result again.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

function uploadBody({ properties = {}, required = [] }: JsonSchema = {}): object {
  const form = {
    type: 'object',
    properties: { file: FILE, ...(properties as JsonSchema) },
    required: ['file', ...(required as readonly string[])],
  }
  return {
    required: true,
    description: 'A form with the file in the part `file`, or the file itself.',
    content: { ...content('multipart/form-data', form), ...contents(FILE_MEDIA_TYPES, FILE) },
  }
}

const RECORDS: JsonSchema = {
  type: 'string',
  description:
    'Records while they are made, one a line or event; the last is of type result and the whole answer, or of type error.',
}

const FILE: JsonSchema = { type: 'string', format: 'binary' }

/** The JSON Schema of a zod schema; named schemas become references. */
function toJsonSchema(
  schema: z.ZodType,
  io: 'input' | 'output',
  named: ReadonlyMap<z.ZodType, string>,
): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      // The callback receives zod's core type of the same object that is in the map.
      const name = named.get(zodSchema as unknown as z.ZodType)
      if (name === undefined) return
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key as keyof typeof jsonSchema]
      jsonSchema.$ref = `#/components/schemas/${name}`
    },
  })
  return withoutSpellings(withoutBounds(json, io) as JsonSchema)
}

/**
 * Removes the bounds that zod adds to every whole number, and restrictions that would make a client reject
 * members of a later version.
 */
function withoutBounds(value: unknown, io: 'input' | 'output'): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutBounds(item, io))
  if (typeof value !== 'object' || value === null) return value
  const kept = inOrder(value).filter(
    ([key, member]) =>
      key !== '$schema' &&
      !(key === 'maximum' && member === Number.MAX_SAFE_INTEGER) &&
      !(key === 'minimum' && (member === 0 || member === Number.MIN_SAFE_INTEGER)) &&
      !(key === 'additionalProperties' && member === false && io === 'output'),
  )
  return Object.fromEntries(kept.map(([key, member]) => [key, withoutBounds(member, io)]))
}

/** Puts the type first, so that equal schemas have equal texts. */
function inOrder(value: object): [string, unknown][] {
  const isType = ([key]: [string, unknown]): number => (key === 'type' ? 0 : 1)
  return Object.entries(value).sort((a, b) => isType(a) - isType(b))
}

function ioOf(schema: z.ZodType): 'input' | 'output' {
  return [reference, parent, windowing, orderedWindowing, pageWindowing].some((it) => it === schema)
    ? 'input'
    : 'output'
}

function content(type: string, schema: JsonSchema): object {
  return { [type]: { schema } }
}

function contents(types: readonly string[], schema: JsonSchema): object {
  return Object.fromEntries(types.map((type) => [type, { schema }]))
}

function ref(name: string) {
  return { $ref: `#/components/schemas/${name}` } satisfies JsonSchema
}

/** Built with the document, to keep the start fast. */
function sharedParts(): Parts {
  const windowings = {
    Windowing: windowing,
    OrderedWindowing: orderedWindowing,
    PageWindowing: pageWindowing,
  }
  return {
    reference: ref('Reference').$ref,
    named: Object.fromEntries(
      Object.entries(windowings).map(([name, schema]) => [
        ref(name).$ref,
        toJsonSchema(schema, 'input', new Map()),
      ]),
    ),
  }
}

function problemSchema(): JsonSchema {
  return {
    type: 'object',
    description: 'RFC 9457',
    required: ['type', 'title', 'status', 'detail', 'code', 'count'],
    properties: {
      type: { type: 'string' },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string', description: 'What is wrong, with which field, and what to do.' },
      code: { type: 'string', enum: Object.keys(PROBLEMS) },
      count: { type: 'integer', const: 0 },
      errors: {
        type: 'array',
        items: {
          type: 'object',
          required: ['loc', 'msg', 'type'],
          properties: {
            loc: { type: 'array', items: { type: ['string', 'integer'] } },
            msg: { type: 'string' },
            type: { type: 'string' },
          },
        },
      },
      conflict: { type: 'object' },
      details: { type: 'object' },
      conflicts: { type: 'array', items: { type: 'object' } },
      users: { type: 'array', items: { type: 'object' } },
      truncated: { type: 'boolean', const: true },
      total: { type: 'integer' },
      trashed_at: { type: 'string' },
      until: { type: 'string' },
    },
  }
}

/** How keys are sent. A session's cookie also stands for a key, but programs do not send one. */
const SECURITY_SCHEMES = {
  ApiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'The word ApiKey, a space, and the key; on the page of `/docs/api` the key alone will do.',
  },
  Bearer: { type: 'http', scheme: 'bearer', description: 'The key as a bearer token: the same as ApiKey.' },
  KeyHeader: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description:
      'The key alone. Beside it an Authorization header may carry the same key, or what a proxy wants.',
  },
  Basic: {
    type: 'http',
    scheme: 'basic',
    description: "For git, and for Langfuse's SDKs: any user name, and the key as the password.",
  },
}

/**
 * The `security` of an operation: any of the keys that may call it. Undefined for the document's default, a
 * key that may read.
 */
function securityOf({ scope, orScope, callerIn, path }: Endpoint): object[] | undefined {
  if (callerIn) return []
  if (takesBasic(path)) return [...keyWith(scope), { Basic: [scope] }]
  const scopes = [scope, ...(orScope === undefined ? [] : [orScope].flat())]
  if (scopes.join() === 'read') return undefined
  return scopes.length === SCOPES.length ? keyWith() : scopes.flatMap((scope) => keyWith(scope))
}

/** A key with this scope, sent in any supported way; without a scope, any key. */
function keyWith(...scopes: readonly string[]): object[] {
  return ['ApiKey', 'Bearer', 'KeyHeader'].map((way) => ({ [way]: scopes }))
}
