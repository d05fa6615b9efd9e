import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { type Caller, type ResultAddress, type Scope, SCOPES } from '../../access/keys.ts'
import { Refusal } from '../../errors.ts'
import { type ArtifactView, slugProblem } from '../../registry/artifacts.ts'
import type { Family } from '../../registry/families.ts'
import { parseUuid, type Registry, type WriteContext } from '../../registry/registries.ts'
import {
  type VariantLocation,
  artifactById,
  resolveArtifact,
  resolveVariant,
  revisionById,
  variantById,
  resolveReference,
  type RevisionLocation,
} from '../../registry/revisions.ts'
import type { Upload } from '../body/upload.ts'
import { shown } from '../schemas/request-schemas.ts'
import type { SignedIn } from '../request.ts'

/** A validated request, without HTTP details except its headers. */
export interface Call<I> {
  readonly registry: Registry
  readonly input: I
  /** Path parameters; ids are lowercase UUIDs, unless the endpoint has its own `params`. */
  readonly params: Readonly<Record<string, string>>
  readonly context: WriteContext
  /** The key's owner and permissions. */
  readonly caller: Caller
  /** The session of the request, if it did not send a key. */
  readonly session: SignedIn | undefined
  readonly headers: IncomingHttpHeaders
  /** Aborted when the client leaves before it has its answer. */
  untilGone(): AbortSignal
}

/** The call of an endpoint that takes an upload; `input` is built from its text fields. */
export interface UploadCall<I> extends Call<I> {
  /** Its file is removed after the answer. */
  readonly upload: Upload
}

/**
 * The answer of an endpoint: a body to write as JSON, JSON text, or a stream, with the entity tag of a
 * revision.
 */
export interface EndpointResponse {
  /** 200 by default. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
  /** How `body` is written, if known: at once if it holds one document, or streamed if it holds streams. */
  readonly writing?: 'at once' | 'in turns' | 'streamed'
  readonly text?: Buffer | string
  /**
   * A streamed body; each piece is requested once the client has received the previous one. The stream is
   * closed when the client leaves. An error becomes an error response before the first write, and breaks the
   * connection afterwards.
   */
  readonly stream?: AsyncIterable<string | Buffer>
  /** The Content-Type of `stream`. */
  readonly contentType?: string
  /** Makes `stream` a download with this name. */
  readonly fileName?: string
  readonly etag?: string
  /** The client already has this answer (304). */
  readonly notModified?: boolean
  /** The location of a write's result, for `recall`. */
  readonly address?: ResultAddress
  /** Whether this repeats the first result of the request's Idempotency-Key. */
  readonly isReplayed?: boolean
}

/** Rebuilds the answer of `run` from the location of its result. */
export type Recall<I> = (call: Call<I>, address: ResultAddress) => Promise<EndpointResponse>

/**
 * A route: its requests, its requirements and its work. The router, the validation and /openapi.json read
 * this.
 */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** In the syntax of @koa/router: `/workflows/:id/archive`. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  /** Its surface's word for a family's artifacts, if that differs from the family's. */
  readonly words?: { readonly family: string; readonly word: string }
  readonly scope: Scope
  /** Alternative scopes; any one of them is enough. */
  readonly orScope?: Scope | readonly Scope[]
  /**
   * Whether callers without the scope `read` also see the whole answer, because it reveals no stored data, or
   * only what the endpoint's own scope is for. Other answers are withheld (see withholding).
   */
  readonly showsAll?: true
  /** The path parameters that are not UUIDs; an object with a member for each parameter. */
  readonly params?: z.ZodObject<Readonly<Record<string, z.ZodType<string>>>>
  /** The body (POST, PUT) or the query string (GET); undefined where there is none. */
  readonly input?: z.ZodType
  /** Whether the body is optional; a missing one is read as `{}`. */
  readonly optionalBody?: boolean
  /** Whether null differs from absent (PUT). */
  readonly keepNulls?: boolean
  /**
   * Converts query-string parameters to body members (interface 2.15, and GET forms), in addition to the
   * body's own.
   */
  readonly fromQuery?: (
    query: URLSearchParams,
    body: Readonly<Record<string, unknown>>,
  ) => Readonly<Record<string, unknown>>
  /** Query-string parameters that clients send and this route ignores. */
  readonly unusedQuery?: readonly string[]
  /** Whether the body is an upload, whose text fields `input` validates; see `uploadEndpoint`. */
  readonly upload?: true
  readonly output: z.ZodType
  /**
   * Answers for callers who may or want to see less; the documentation describes them once for all endpoints.
   */
  readonly alsoAnswers?: readonly z.ZodType[]
  /** The media types of a streamed answer, for the documentation; it replaces `output`. */
  readonly downloads?: readonly string[]
  /**
   * Media types of an answer as a stream of records, for the documentation; the last record matches `output`.
   */
  readonly streams?: readonly string[]
  /** An answer that is neither 200 nor a problem document, for the documentation. */
  readonly failure?: z.ZodType
  /** An example request, for the documentation. */
  readonly example?: object
  /** Finds the caller from the body, or refuses; only for the route that needs no key. */
  readonly callerIn?: (input: never) => Promise<Caller>
  readonly run: (call: Call<never>) => Promise<EndpointResponse> | EndpointResponse
  /** Every POST that writes has it; its `run` returns an address. */
  readonly recall?: Recall<never>
}

/** Ties the input type of an endpoint to its `run`. */
export function endpoint<T>(
  definition: Omit<Endpoint, 'run' | 'recall' | 'input' | 'callerIn'> & {
    readonly input?: z.ZodType<T>
    readonly run: (call: Call<T>) => Promise<EndpointResponse> | EndpointResponse
    readonly recall?: Recall<T>
  },
): Endpoint {
  // The router parses with `input` before it calls `run`, so a run never sees another type.
  return definition as unknown as Endpoint
}

/** The same for an endpoint without a key, which finds its caller from the input. */
export function keylessEndpoint<T>(
  definition: Omit<Endpoint, 'run' | 'recall' | 'input' | 'callerIn'> & {
    readonly input: z.ZodType<T>
    readonly callerIn: (input: T) => Promise<Caller>
    readonly run: (call: Call<T>) => Promise<EndpointResponse>
  },
): Endpoint {
  return definition as unknown as Endpoint // as above
}

/** The same for an endpoint that takes a file, as a form or as the body itself (see `uploadReader`). */
export function uploadEndpoint<T>(
  definition: Omit<Endpoint, 'run' | 'recall' | 'input' | 'upload' | 'method' | 'fromQuery'> & {
    readonly input?: z.ZodType<T>
    readonly run: (call: UploadCall<T>) => Promise<EndpointResponse>
    readonly recall?: Recall<T>
  },
): Endpoint {
  // As above; the router adds the upload to the call.
  return { ...definition, method: 'POST', upload: true } as unknown as Endpoint
}

/**
 * For endpoints that any key may call: their answers are the same in every project, and reveal nothing of
 * any.
 */
export const anyKey: Pick<Endpoint, 'scope' | 'orScope' | 'showsAll'> = {
  scope: 'read',
  showsAll: true,
  orScope: SCOPES.filter((scope) => scope !== 'read'),
}

const idOrSlug = z
  .string()
  .check((context) => {
    const { value } = context
    const problem = parseUuid(value) === undefined ? slugProblem(value) : undefined
    if (problem === undefined) return
    context.issues.push({
      code: 'custom',
      input: value,
      message: `${shown(value)} is neither an id nor a slug: it ${problem}`,
      params: { type: 'invalid_slug' },
    })
  })
  .meta({ description: 'The id, a UUID, or the slug.' })

/** The `{id}` in the path of an endpoint that uses one of the functions below. */
export const named = { params: z.object({ id: idOrSlug }) } as const

type Params = Readonly<Record<string, string>>

/**
 * The artifact that `{id}` names, by id or slug (interface 2.7). An id takes precedence over an equal slug.
 */
export function artifactIn(registry: Registry, family: Family, { id = '' }: Params): Promise<ArtifactView> {
  return idFirst(
    id,
    (uuid) => artifactById(registry, family, uuid),
    (slug) => resolveArtifact(registry, family, { slug }),
  )
}

/** The same for a variant; a slug that several artifacts have is refused as everywhere. */
export function variantInPath(
  registry: Registry,
  family: Family,
  { id = '' }: Params,
): Promise<VariantLocation> {
  return idFirst(
    id,
    (uuid) => variantById(registry, family, uuid),
    (slug) => resolveVariant(registry, family, { slug }),
  )
}

/** The same for a revision. */
export function revisionIn(
  registry: Registry,
  family: Family,
  { id = '' }: Params,
): Promise<RevisionLocation> {
  return idFirst(
    id,
    (uuid) => revisionById(registry, family, uuid),
    (slug) => resolveReference(registry, family, { revision: { slug } }),
  )
}

/** A slug may look like an id, so an unknown id is also looked up as a slug. */
async function idFirst<T>(
  text: string,
  byId: (id: string) => Promise<T>,
  bySlug: (slug: string) => Promise<T>,
): Promise<T> {
  const id = parseUuid(text)
  if (id === undefined) return bySlug(text)
  try {
    return await byId(id)
  } catch (error) {
    if (!isNotFound(error)) throw error
    return bySlug(text).catch((other: unknown) => {
      throw isNotFound(other) ? error : other
    })
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Refusal && error.code.endsWith('_not_found')
}

/** Refuses a PUT whose body names another item than its path (interface 4.23). */
export function assertSameId(inPath: string, inBody: string | undefined): void {
  if (inBody === undefined || inBody === inPath) return
  throw new Refusal(
    'contradictory_request',
    `The path names ${inPath}, but the body's id is ${inBody}. Send the same id, or leave it out of the body.`,
  )
}
