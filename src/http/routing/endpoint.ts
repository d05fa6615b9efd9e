import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import type { Caller } from '../../access/caller.ts'
import type { ResultAddress } from '../../access/intent-file.ts'
import { type Scope, SCOPES } from '../../access/scope.ts'
import { Refusal } from '../../errors.ts'
import type { ArtifactView } from '../../versioning/artifacts/artifact-view.ts'
import type { Family } from '../../versioning/family/family.ts'
import { parseUuid } from '../../versioning/ids.ts'
import type { Registry } from '../../versioning/registry.ts'
import {
  type VariantLocation,
  artifactById,
  resolveArtifact,
  resolveVariant,
  revisionById,
  variantById,
  resolveReference,
} from '../../versioning/revisions/references.ts'
import type { RevisionLocation } from '../../versioning/revisions/revision.ts'
import { slugProblem } from '../../versioning/slugs/slug.ts'
import type { WriteContext } from '../../versioning/write-context.ts'
import type { Upload } from '../body/upload.ts'
import { shown } from '../schemas/request-schemas.ts'
import type { SignedIn } from '../request.ts'

/** A guarded request, with nothing of HTTP but its headers. */
export interface Call<I> {
  readonly registry: Registry
  readonly input: I
  /** Path parameters; ids are UUIDs in lower case, unless the endpoint has `params` of its own. */
  readonly params: Readonly<Record<string, string>>
  readonly context: WriteContext
  /** Whose key it is, and what it may do. */
  readonly caller: Caller
  /** The session that the request came with, where it was not the key itself. */
  readonly session: SignedIn | undefined
  readonly headers: IncomingHttpHeaders
  /** Aborted when the client goes before it has its answer. */
  untilGone(): AbortSignal
}

/** The call of an endpoint that takes an upload; `input` is made of its text fields. */
export interface UploadCall<I> extends Call<I> {
  /** Its file is there until the answer is made, and then removed. */
  readonly upload: Upload
}

/**
 * What an endpoint answers: a body to be written as JSON, ready JSON text, or a stream; with its entity tag if it is a
 * revision's.
 */
export interface EndpointResponse {
  /** 200 unless it says otherwise. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
  /** How `body` is written, where that is known: at once, as it holds one document, or streamed, as it holds streams. */
  readonly writing?: 'at once' | 'streamed'
  readonly text?: Buffer | string
  /**
   * A body written piece by piece, each asked for when the client has taken the one before. It is closed when the client goes;
   * what it throws is answered as any error while nothing was written yet, and breaks the connection afterwards.
   */
  readonly stream?: AsyncIterable<string | Buffer>
  /** The Content-Type of `stream`. */
  readonly contentType?: string
  /** Makes `stream` a download under this name. */
  readonly fileName?: string
  readonly etag?: string
  /** The client has what it would get (304). */
  readonly notModified?: boolean
  /** Where a write's result is, for `recall`. */
  readonly address?: ResultAddress
  /** This is the first result of the request's Idempotency-Key, again. */
  readonly isReplayed?: boolean
}

/** Answers as `run` did, from where the result is. */
export type Recall<I> = (call: Call<I>, address: ResultAddress) => Promise<EndpointResponse>

/** One route: how it is asked, what it needs, what it does; the router, the guard and /openapi.json all read this. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** As @koa/router writes it: `/workflows/:id/archive`. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  /** How its surface calls the things of a family, where not as the family does. */
  readonly words?: { readonly family: string; readonly word: string }
  readonly scope: Scope
  /** A scope, or any of several, that is enough, too. */
  readonly orScope?: Scope | readonly Scope[]
  /**
   * Whether whoever is let in sees the whole answer, also without the scope `read`: it tells nothing that is stored, or just what the
   * endpoint's own scope is for. Any other answer is withheld (see withholding).
   */
  readonly showsAll?: true
  /** What the path parameters are, where they are not all UUIDs; an object with a member for each. */
  readonly params?: z.ZodObject<Readonly<Record<string, z.ZodType<string>>>>
  /** The body (POST, PUT) or the query string (GET); undefined where there is none. */
  readonly input?: z.ZodType
  /** Whether the body may be left out, and read as `{}`. */
  readonly optionalBody?: boolean
  /** Whether null means something other than absent (PUT). */
  readonly keepNulls?: boolean
  /** Makes body members out of query-string parameters (interface 2.15, and GET forms), beside those that the body has. */
  readonly fromQuery?: (
    query: URLSearchParams,
    body: Readonly<Record<string, unknown>>,
  ) => Readonly<Record<string, unknown>>
  /** Query-string parameters that clients send and that mean nothing here. */
  readonly unusedQuery?: readonly string[]
  /** Whether the body is an upload, whose text fields `input` guards; see `uploadEndpoint`. */
  readonly upload?: true
  readonly output: z.ZodType
  /** What is answered instead to whoever may or wants to see less; the documentation says so once for all endpoints. */
  readonly alsoAnswers?: readonly z.ZodType[]
  /** The media types of a streamed answer, for the documentation; `output` is not used then. */
  readonly downloads?: readonly string[]
  /** Media types in which an answer may come as a stream of records, for the documentation; the last one is as `output` says. */
  readonly streams?: readonly string[]
  /** What an answer is that is neither 200 nor a problem document, for the documentation. */
  readonly failure?: z.ZodType
  /** A request as it could be sent, for the documentation. */
  readonly example?: object
  /** Tells whose request it is by its body, or refuses: of the route that is asked without a key. */
  readonly callerIn?: (input: never) => Promise<Caller>
  readonly run: (call: Call<never>) => Promise<EndpointResponse> | EndpointResponse
  /** Every POST that writes has it; its `run` answers with an address. */
  readonly recall?: Recall<never>
}

/** Ties the type of an endpoint's input to what its `run` takes. */
export function endpoint<T>(
  definition: Omit<Endpoint, 'run' | 'recall' | 'input' | 'callerIn'> & {
    readonly input?: z.ZodType<T>
    readonly run: (call: Call<T>) => Promise<EndpointResponse> | EndpointResponse
    readonly recall?: Recall<T>
  },
): Endpoint {
  // The router parses by `input` before it calls `run`, so a run never sees another type.
  return definition as unknown as Endpoint
}

/** The same for an endpoint that is asked without a key, and learns from its input whose request it is. */
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
  // As above; and the router adds the upload to the call of every endpoint that says so.
  return { ...definition, method: 'POST', upload: true } as unknown as Endpoint
}

/** What an endpoint needs that any key may ask: it answers the same in every project, and tells nothing of any. */
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

/** What `{id}` is in the path of an endpoint that finds its thing with one of the functions below. */
export const named = { params: z.object({ id: idOrSlug }) } as const

type Params = Readonly<Record<string, string>>

/** The artifact that `{id}` names, by id or slug (interface 2.7). What is the id of one thing and the slug of another is the id. */
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

/** A slug may look like an id, so what is no id of anything is looked for once more. */
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

/** Refuses a PUT whose body names another thing than its path (interface 4.23). */
export function assertSameId(inPath: string, inBody: string | undefined): void {
  if (inBody === undefined || inBody === inPath) return
  throw new Refusal(
    'contradictory_request',
    `The path names ${inPath}, but the body's id is ${inBody}. Send the same id, or leave it out of the body.`,
  )
}
