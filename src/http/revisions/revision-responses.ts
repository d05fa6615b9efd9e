import { createHash } from 'node:crypto'
import { recentlyUsed } from '../../cache/recently-used.ts'
import { counts } from '../../metrics/counters.ts'
import { holdsStream } from '../../json/json-stream.ts'
import { printJson } from '../../json/print-json.ts'
import type { Surface } from '../../resources/surface.ts'
import type { ArtifactView } from '../../versioning/artifacts/artifact-view.ts'
import type { Reading } from '../../versioning/family/family.ts'
import { PLAIN_READING } from '../../versioning/family/family.ts'
import type { Registry } from '../../versioning/registry.ts'
import type {
  Deployment,
  RetrieveReferences,
  RetrievedRevision,
} from '../../versioning/revisions/retrieve-revision.ts'
import { LargeDocument } from '../../versioning/family/large-document.ts'
import { retrieveRevision } from '../../versioning/revisions/retrieve-revision.ts'
import type { Revision, RevisionLocation } from '../../versioning/revisions/revision.ts'
import { readListedRevision, readRevisionAt } from '../../versioning/revisions/revision.ts'
import type { PresentOptions } from '../presenters/record.ts'
import { presentPayload, presentReferences, presentRevision } from '../presenters/record.ts'
import type { EndpointResponse } from '../routing/endpoint.ts'
import type { Enrich } from '../schemas/enrichment.ts'
import type { WithReadOptions } from '../schemas/queries/read-options.ts'
import { readOptionsKey } from '../schemas/queries/read-options.ts'
import type { Warning } from '../../versioning/family/family.ts'
import { etagMatches, etagOf } from './etag.ts'
import type { EmbedOptions } from './resolve-embeds.ts'
import { toldDisagreements } from './told-disagreements.ts'
import { DEFAULT_EMBED_OPTIONS, resolveEmbedsOf } from './resolve-embeds.ts'

type Form = 'read' | 'retrieve'

/** What a retrieve asks: for what, whether what it embeds is put in its place, and what is added that is not stored. */
export interface RetrieveQuestion extends RetrieveReferences {
  readonly resolve?: boolean | undefined
  readonly enrich?: Enrich | undefined
  readonly beside?: LookBeside | undefined
}

/** Looks up what a retrieve answers beside the revision. */
export type LookBeside = (registry: Registry, place: RevisionLocation) => Promise<AnsweredBeside>

/** Members of `retrieval_info`, and of the answer itself. */
export interface AnsweredBeside {
  readonly info: object
  readonly own: object
}

const encoder = new TextEncoder()

let instances = 0

/**
 * The answers that hold one revision, with their entity tags (interface 2.21). Written answers are kept for a while: a view never changes,
 * so neither does what was written from it.
 */
export class RevisionResponses {
  readonly #surface: Surface
  readonly #present: PresentOptions
  readonly #key: string
  readonly #serial = ++instances
  readonly #serials = new WeakMap<ArtifactView, number>()
  #lastSerial = 0

  constructor(surface: Surface, present: PresentOptions) {
    this.#surface = surface
    this.#present = present
    this.#key = `${surface.singular}_revision`
  }

  /** The revision at a place, as GET by id answers it. */
  read(place: RevisionLocation, asked: Reading, ifNoneMatch: string | undefined): Promise<EndpointResponse> {
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

  /** What is added changes while the revision does not, so the entity tag is of the answer itself. */
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
   * The revision with its embeds resolved (interface 10.1). Refuses what cannot be, and data that would not be the family's
   * any more. What is embedded may change while the revision does not, so the entity tag is of the answer itself.
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

  /** The revision as a write leaves it, with what else the write answers. */
  async fresh(
    place: RevisionLocation,
    asked: Reading = PLAIN_READING,
    more: object = {},
  ): Promise<EndpointResponse> {
    return this.made(await readListedRevision(place), asked, more)
  }

  /** The same of one that is read already. */
  async made(revision: Revision, asked: Reading, more: object = {}): Promise<EndpointResponse> {
    const body = Object.assign(await this.#body(revision, asked), more)
    return { body, etag: this.#etag(revision, `read${readOptionsKey(asked)}`), address: { id: revision.id } }
  }

  /** The written answer, if it is kept; what some reference disagrees with is written anew. */
  async #answer(
    place: RetrievedRevision,
    form: Form,
    asked: Reading,
    ifNoneMatch: string | undefined,
    beside?: AnsweredBeside,
  ): Promise<EndpointResponse> {
    const way = wayOf(place, form, asked) + (beside ? ` ${JSON.stringify(beside)}` : '')
    const key = `${this.#serial}.${this.#serialOf(place.artifact)} ${place.oid} ${place.variant.slug} ${way}`
    const known = place.disagreeing ? undefined : responseCache.get(key)
    if (known) {
      counts.lookups.answers.hits++
      return ifNoneMatch === undefined ? known : unlessMatched(known, ifNoneMatch)
    }
    counts.lookups.answers.misses++
    const told = this.#told(place)
    const revision = await readRevisionAt(place)
    const etag = this.#etag(revision, way)
    if (etagMatches(ifNoneMatch, etag)) return { etag, notModified: true }
    const isRetrieve = form === 'retrieve'
    const body = Object.assign(await this.#body(revision, asked), {
      retrieval_info: isRetrieve ? await this.#retrievalInfo(revision, place.through, beside) : undefined,
      ...beside?.own,
      ...told,
    })
    if (holdsStream(body)) return { body, etag }
    const printed = await printJson(body)
    // Buffer.from(text) would keep a piece of 8 KB that node shares among small buffers, of which the cache counts a part
    const text = typeof printed === 'string' ? Buffer.from(encoder.encode(printed).buffer) : printed
    const written = { text, etag }
    responseCache.set(key, written)
    return written
  }

  async #body(revision: Revision, asked: Reading): Promise<object> {
    const presented = await presentPayload(revision, this.#present, asked)
    return {
      count: 1,
      [this.#key]: presentRevision(revision, this.#present, presented),
      windowing: presented?.windowing,
      total: presented?.total,
    }
  }

  #etag(revision: Revision, way: string): string {
    const { servicesBase, versionType, authorType } = this.#present
    const forms = authorType === 'uuid' ? `${versionType} ${authorType}` : versionType
    return etagOf(revision, [this.#surface.singular, forms, servicesBase, way].join(' '))
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

  #serialOf(artifact: ArtifactView): number {
    let serial = this.#serials.get(artifact)
    if (serial === undefined) this.#serials.set(artifact, (serial = ++this.#lastSerial))
    return serial
  }
}

/** The answer, but for a client that has it already. */
function unlessMatched(written: CachedResponse, ifNoneMatch: string | undefined): EndpointResponse {
  return etagMatches(ifNoneMatch, written.etag) ? { etag: written.etag, notModified: true } : written
}

/** Which of the answers that hold the revision it is. */
function wayOf({ through, disagreeing }: RetrievedRevision, form: Form, asked: Reading): string {
  const beside = disagreeing ? ` ${JSON.stringify(disagreeing)}` : ''
  return `${form}${readOptionsKey(asked)}${through ? ` ${wayThrough(through)}` : ''}${beside}`
}

/** Tells one deployment from another. */
function wayThrough({ key, environment }: Deployment): string {
  const { artifact, variant, oid } = environment
  return JSON.stringify([artifact.id, variant.slug, oid, key])
}

/** An answer written out, with its entity tag. */
export interface CachedResponse {
  readonly text: Buffer
  readonly etag: string
}

/** The answers that were written or asked for lately, 32 MB of them for all surfaces together. */
export const responseCache = recentlyUsed<string, CachedResponse>(
  32 * 1024 * 1024,
  ({ text }) => text.length + 300,
)
