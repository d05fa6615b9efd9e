import { createHash } from 'node:crypto'
import { recentlyUsed } from '../../base/recently-used.ts'
import { counts } from '../../base/counters.ts'
import { JsonStream, stringifyJson, printJson } from '../../base/json.ts'
import {
  type Surface,
  type Reading,
  PLAIN_READING,
  type Warning,
  LargeDocument,
} from '../../registry/families.ts'
import type { ArtifactView } from '../../registry/artifacts.ts'
import type { Registry } from '../../registry/registries.ts'
import {
  type Deployment,
  type RetrieveReferences,
  type RetrievedRevision,
  retrieveRevision,
  type Revision,
  type RevisionLocation,
  readListedRevision,
  readRevisionAt,
} from '../../registry/revisions.ts'
import { type PresentOptions, presentPayload, presentReferences, presentRevision } from './record.ts'
import type { EndpointResponse } from '../routing/endpoint.ts'
import type { Enrich } from '../schemas/enrichment.ts'
import { type WithReadOptions } from '../schemas/queries/read-options.ts'
import { etagMatches, etagOf } from '../routing/send.ts'
import { type EmbedOptions, DEFAULT_EMBED_OPTIONS, resolveEmbedsOf } from './resolve-embeds.ts'
import { toldDisagreements } from './told-disagreements.ts'

type Form = 'read' | 'retrieve'

/** The options of a retrieve: the references, whether embeds are resolved, and which derived data is added. */
export interface RetrieveQuestion extends RetrieveReferences {
  readonly resolve?: boolean | undefined
  readonly enrich?: Enrich | undefined
  readonly beside?: LookBeside | undefined
}

/** Looks up the derived data that a retrieve adds to the revision. */
export type LookBeside = (registry: Registry, place: RevisionLocation) => Promise<AnsweredBeside>

/** Members of `retrieval_info`, and of the answer itself. */
export interface AnsweredBeside {
  readonly info: object
  readonly own: object
}

const encoder = new TextEncoder()

/**
 * A payload that takes more bytes of memory than this is serialised in slices, so that other requests are served meanwhile. In memory a payload
 * takes about three times the size of its text.
 */
const MAX_SIZE_AT_ONCE = 256 * 1024

let instances = 0

/** The number of an artifact in entity tags. */
const serials = new WeakMap<ArtifactView, number>()
let lastSerial = 0

/**
 * The answers that hold one revision, with their entity tags (interface 2.21). Serialised answers are cached for a while: a view never changes, so
 * its answers do not either.
 */
export class RevisionResponses {
  readonly #surface: Surface
  readonly #present: PresentOptions
  readonly #key: string
  /** The part of the entity tags that is the same for all answers. */
  readonly #shape: string
  readonly #serial = ++instances

  constructor(surface: Surface, present: PresentOptions) {
    this.#surface = surface
    this.#present = present
    this.#key = `${surface.singular}_revision`
    const { servicesBase, versionType, authorType } = present
    const forms = authorType === 'uuid' ? `${versionType} ${authorType}` : versionType
    this.#shape = `${surface.singular} ${forms} ${servicesBase}`
  }

  /** The revision at a place, for a GET by id. */
  read(
    place: RevisionLocation,
    asked: Reading | undefined,
    ifNoneMatch: string | undefined,
  ): Promise<EndpointResponse> {
    return this.#answer(place, 'read', asked, ifNoneMatch)
  }

  /** The revision that references name, with `retrieval_info` (interface 5.15). */
  async retrieve(
    registry: Registry,
    question: WithReadOptions<RetrieveQuestion>,
    ifNoneMatch: string | undefined,
  ): Promise<EndpointResponse> {
    const { resolve, enrich, asked } = question
    const place = await retrieveRevision(registry, this.#surface.family, question, this.#surface)
    const beside = question.beside && (await question.beside(registry, place))
    if (resolve) return this.resolve(registry, place, DEFAULT_EMBED_OPTIONS, ifNoneMatch, beside)
    if (enrich) return this.#retrieveEnriched(registry, place, enrich, ifNoneMatch, beside)
    return this.#answer(place, 'retrieve', asked, ifNoneMatch, beside)
  }

  /** The added data changes while the revision does not, so the entity tag is computed from the answer itself. */
  async #retrieveEnriched(
    registry: Registry,
    place: RetrievedRevision,
    enrich: Enrich,
    ifNoneMatch: string | undefined,
    beside: AnsweredBeside | undefined,
  ): Promise<EndpointResponse> {
    const revision = await readRevisionAt(place)
    const presented = await presentPayload(revision, this.#present)
    const enriched = presented && (await enrich(registry, presented))
    const body = {
      count: 1,
      [this.#key]: presentRevision(revision, this.#present, enriched),
      windowing: enriched?.windowing,
      retrieval_info: await this.#retrievalInfo(revision, place.through, beside),
      ...beside?.own,
      ...this.#told(place),
    }
    return this.#sendTagged(revision, body, ifNoneMatch)
  }

  /**
   * The revision with its embeds resolved (interface 10.1). Refuses an embed that cannot be resolved, and a result that is no valid data of the
   * family. An embedded revision may change while this one does not, so the entity tag is computed from the answer itself.
   */
  async resolve(
    registry: Registry,
    place: RetrievedRevision,
    options: EmbedOptions,
    ifNoneMatch: string | undefined,
    beside?: AnsweredBeside,
  ): Promise<EndpointResponse> {
    const told = this.#told(place)
    const revision = await readRevisionAt(place)
    const { id, slug } = revision
    const { payload } = revision.stored
    if (payload instanceof LargeDocument) throw payload.refusal()
    const presented = await presentPayload(revision, this.#present)
    const { data, info } = await resolveEmbedsOf(registry, this.#surface.family, presented?.data, {
      ...options,
      host: { id, slug },
      versionType: this.#present.versionType,
    })
    const body = {
      count: 1,
      [this.#key]: presentRevision(revision, this.#present, { data }),
      resolution_info: info,
      retrieval_info: await this.#retrievalInfo(revision, place.through, beside),
      ...beside?.own,
      ...told,
    }
    return this.#sendTagged(revision, body, ifNoneMatch)
  }

  async #sendTagged(
    { id }: Revision,
    body: object,
    ifNoneMatch: string | undefined,
  ): Promise<EndpointResponse> {
    const text = Buffer.from(await printJson(body))
    const etag = `"${id}.${createHash('sha1').update(text).digest('base64url').slice(0, 12)}"`
    return unlessMatched({ text, etag }, ifNoneMatch)
  }

  /** The revision after a write, with the other fields of the write's answer. */
  async fresh(
    place: RevisionLocation,
    asked: Reading = PLAIN_READING,
    more: object = {},
  ): Promise<EndpointResponse> {
    return this.made(await readListedRevision(place), asked, more)
  }

  /** The same for a revision that was read already. */
  async made(
    revision: Revision,
    asked: Reading = PLAIN_READING,
    more: object = {},
  ): Promise<EndpointResponse> {
    const { body, writing } = await this.#body(revision, asked)
    const etag = etagOf(revision, `${this.#shape} read${formOf(asked)}`)
    return { body: Object.assign(body, more), writing, etag, address: { id: revision.id } }
  }

  /** The cached answer. If a reference disagrees with the revision, a new one is made, with the warning. */
  async #answer(
    place: RetrievedRevision,
    form: Form,
    asked: Reading = PLAIN_READING,
    ifNoneMatch: string | undefined,
    beside?: AnsweredBeside,
  ): Promise<EndpointResponse> {
    const way = wayOf(place, form, asked, beside)
    let serial = serials.get(place.artifact)
    if (serial === undefined) serials.set(place.artifact, (serial = ++lastSerial))
    const key = `${this.#serial}.${serial} ${place.oid} ${place.variant.slug} ${way}`
    const known = place.disagreeing || place.artifact.whole ? undefined : responseCache.get(key)
    counts.lookups.answers[known ? 'hits' : 'misses']++
    if (known) return ifNoneMatch === undefined ? known : unlessMatched(known, ifNoneMatch)
    return this.#write(place, { form, asked, way, key }, ifNoneMatch, beside)
  }

  /** Serialises an answer, and caches it unless it is streamed. */
  async #write(
    place: RetrievedRevision,
    { form, asked, way, key }: { form: Form; asked: Reading; way: string; key: string },
    ifNoneMatch: string | undefined,
    beside: AnsweredBeside | undefined,
  ): Promise<EndpointResponse> {
    const told = this.#told(place)
    const revision = await readRevisionAt(place)
    const isLimited = place.artifact.whole !== undefined
    const etag = etagOf(revision, `${this.#shape} ${way}`)
    if (!isLimited && etagMatches(ifNoneMatch, etag)) return { etag, notModified: true }
    const isRetrieve = form === 'retrieve'
    const { body, writing } = await this.#body(revision, asked)
    const whole = Object.assign(body, {
      retrieval_info: isRetrieve ? await this.#retrievalInfo(revision, place.through, beside) : undefined,
      ...beside?.own,
      ...told,
    })
    // A limited key's view of a revision changes when other artifacts move, while the revision does not.
    if (isLimited) return this.#sendTagged(revision, whole, ifNoneMatch)
    if (writing === 'streamed') return { body: whole, writing, etag }
    // Buffer.from(text) would keep an 8 KB block, which node shares among small buffers, in memory. The cache counts only a part of that.
    const text =
      writing === 'in turns'
        ? Buffer.from(await printJson(whole))
        : Buffer.from(encoder.encode(stringifyJson(whole)).buffer)
    const written = { text, etag }
    responseCache.set(key, written)
    return written
  }

  /** The revision as a record. Its payload is one document, the text of a few rows, or a stream of many. */
  async #body(
    revision: Revision,
    asked: Reading,
  ): Promise<{ readonly body: object; readonly writing: NonNullable<EndpointResponse['writing']> }> {
    const presented = await presentPayload(revision, this.#present, asked)
    const body = {
      count: 1,
      [this.#key]: presentRevision(revision, this.#present, presented),
      windowing: presented?.windowing,
      total: presented?.total,
    }
    if (presented?.data instanceof JsonStream) return { body, writing: 'streamed' }
    return { body, writing: revision.stored.size > MAX_SIZE_AT_ONCE ? 'in turns' : 'at once' }
  }

  /** The warnings of references that were not followed. */
  #told({ disagreeing }: RetrievedRevision): { readonly warnings?: readonly Warning[] } {
    return disagreeing
      ? { warnings: toldDisagreements(disagreeing, this.#surface.singular, this.#present) }
      : {}
  }

  async #retrievalInfo(
    revision: Revision,
    through: Deployment | undefined,
    beside: AnsweredBeside | undefined,
  ): Promise<object> {
    const { singular } = this.#surface
    const environment = through && (await readRevisionAt(through.environment))
    return {
      references: {
        ...(environment ? presentReferences('environment', environment, this.#present) : {}),
        ...presentReferences(singular, revision, this.#present),
      },
      ...(through ? { selector: { key: through.key } } : {}),
      ...beside?.info,
    }
  }
}

/** The answer, or 304 if the client has it already. */
function unlessMatched(written: CachedResponse, ifNoneMatch: string | undefined): EndpointResponse {
  return etagMatches(ifNoneMatch, written.etag) ? { etag: written.etag, notModified: true } : written
}

/** The form of the answer, for its entity tag. */
function wayOf(
  { through, disagreeing }: RetrievedRevision,
  form: Form,
  asked: Reading,
  beside: AnsweredBeside | undefined,
): string {
  let way: string = form
  if (asked.flags !== PLAIN_READING.flags) way += formOf(asked)
  if (through) way += ` ${wayThrough(through)}`
  if (disagreeing) way += ` ${JSON.stringify(disagreeing)}`
  if (beside) way += ` ${JSON.stringify(beside)}`
  return way
}

/** Equal requests have equal forms. */
function formOf({ flags, windowing }: Reading): string {
  return flags === PLAIN_READING.flags ? '' : JSON.stringify([flags, windowing])
}

/** Tells one deployment from another. */
function wayThrough({ key, environment }: Deployment): string {
  const { artifact, variant, oid } = environment
  return JSON.stringify([artifact.id, variant.slug, oid, key])
}

/** A serialised answer with its entity tag. */
export interface CachedResponse {
  readonly text: Buffer
  readonly etag: string
}

/** The answers that were made or sent lately, at most 32 MB for all surfaces together. */
export const responseCache = recentlyUsed<string, CachedResponse>(
  32 * 1024 * 1024,
  ({ text }) => text.length + 300,
)
