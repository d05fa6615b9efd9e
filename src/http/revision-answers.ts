import { LRUCache } from 'lru-cache'
import { stringifyJson } from '../json/stringify-json.ts'
import { holdsStream } from '../json/json-stream.ts'
import type { Surface } from '../resources/surface.ts'
import type { ArtifactView } from '../versioning/artifact-view.ts'
import type { Reading } from '../versioning/family.ts'
import { PLAIN_READING } from '../versioning/family.ts'
import type { Registry } from '../versioning/registry.ts'
import type { References } from '../versioning/references.ts'
import { resolveRevision } from '../versioning/resolve-revision.ts'
import type { Revision, RevisionPlace } from '../versioning/revision.ts'
import { readListedRevision, readRevisionAt } from '../versioning/revision.ts'
import { etagMatches } from './etag.ts'
import { etagOf } from './etag-of.ts'
import type { Answer } from './endpoint.ts'
import type { PresentOptions } from './present.ts'
import { presentPayload, presentRevision } from './present.ts'
import type { WithReading } from './reading.ts'
import { readingKey } from './reading.ts'

type Form = 'read' | 'retrieve'

/** A written answer with its entity tag. */
interface Written {
  readonly text: Buffer
  readonly etag: string
}

/** What was answered for references at a moment of the index. */
interface Found {
  readonly registry: Registry
  readonly moment: number
  readonly artifact: ArtifactView
  readonly written: Written
}

/** Bytes of written answers that one surface keeps. */
const KEPT = 16 * 1024 * 1024

/**
 * The answers that hold one revision, with their entity tags (ruling 1.9). Written answers are kept: a view never changes, so
 * neither does what was written from it.
 */
export class RevisionAnswers {
  readonly #surface: Surface
  readonly #present: PresentOptions
  readonly #key: string
  readonly #written = new LRUCache<string, Written>({
    maxSize: KEPT,
    sizeCalculation: ({ text }) => text.length + 300,
  })
  readonly #found = new WeakMap<References, Found>()
  readonly #serials = new WeakMap<ArtifactView, number>()
  #lastSerial = 0

  constructor(surface: Surface, present: PresentOptions) {
    this.#surface = surface
    this.#present = present
    this.#key = `${surface.singular}_revision`
  }

  /** The revision at a place, as GET by id answers it. */
  read(
    registry: Registry,
    place: RevisionPlace,
    asked: Reading,
    ifNoneMatch: string | undefined,
  ): Promise<Answer> {
    return this.#answer(registry, place, 'read', asked, ifNoneMatch)
  }

  /**
   * The revision that references name, with `retrieval_info` (contract/workflows 5.4). Who polls asks the same again and again,
   * and the router hands over the same references then: what they got is theirs again without a search while nothing moved.
   */
  retrieve(
    registry: Registry,
    references: WithReading<References>,
    ifNoneMatch: string | undefined,
  ): Promise<Answer> | Answer {
    const known = this.#found.get(references)
    if (known?.registry === registry && registry.index.isStill(known.moment, known.artifact)) {
      return this.#send(known.written, ifNoneMatch)
    }
    return this.#resolve(registry, references, ifNoneMatch)
  }

  async #resolve(
    registry: Registry,
    references: WithReading<References>,
    ifNoneMatch: string | undefined,
  ): Promise<Answer> {
    const { moment } = registry.index
    const place = await resolveRevision(registry, this.#surface.family, references)
    const answer = await this.#answer(registry, place, 'retrieve', references.asked, ifNoneMatch)
    const { text, etag } = answer
    if (text && etag !== undefined) {
      this.#found.set(references, { registry, moment, artifact: place.artifact, written: { text, etag } })
    }
    return answer
  }

  /** The revision as a write leaves it, with what else the write answers. */
  async fresh(
    registry: Registry,
    place: RevisionPlace,
    asked: Reading = PLAIN_READING,
    more: object = {},
  ): Promise<Answer> {
    const revision = await readListedRevision(registry, place)
    const body = { ...(await this.#body(revision, asked)), ...more }
    return { body, etag: this.#etag(revision, 'read', asked), address: { id: revision.id } }
  }

  async #answer(
    registry: Registry,
    place: RevisionPlace,
    form: Form,
    asked: Reading,
    ifNoneMatch: string | undefined,
  ): Promise<Answer> {
    const key = `${this.#serialOf(place.artifact)} ${place.oid} ${place.variant.slug} ${form}${readingKey(asked)}`
    const known = this.#written.get(key)
    if (known) return this.#send(known, ifNoneMatch)
    const revision = await readRevisionAt(registry, place)
    const etag = this.#etag(revision, form, asked)
    if (etagMatches(ifNoneMatch, etag)) return { etag, notModified: true }
    const body = {
      ...(await this.#body(revision, asked)),
      retrieval_info: form === 'retrieve' ? this.#retrievalInfo(revision) : undefined,
    }
    if (holdsStream(body)) return { body, etag }
    const written = { text: Buffer.from(stringifyJson(body)), etag }
    this.#written.set(key, written)
    return written
  }

  #send(written: Written, ifNoneMatch: string | undefined): Answer {
    return etagMatches(ifNoneMatch, written.etag) ? { etag: written.etag, notModified: true } : written
  }

  async #body(revision: Revision, asked: Reading): Promise<object> {
    const presented = await presentPayload(revision, this.#present, asked)
    return {
      count: 1,
      [this.#key]: presentRevision(revision, this.#present, presented),
      windowing: presented?.windowing,
    }
  }

  #etag(revision: Revision, form: Form, asked: Reading): string {
    const { servicesBase, versionType } = this.#present
    const options = [this.#surface.singular, form, versionType, servicesBase, readingKey(asked)]
    return etagOf(revision, options.join(' '))
  }

  #retrievalInfo(revision: Revision): object {
    const { singular } = this.#surface
    const { artifact, variant, id, slug, version } = revision
    return {
      references: {
        [singular]: { id: artifact.id, slug: artifact.slug },
        [`${singular}_variant`]: { id: variant.id, slug: variant.slug },
        [`${singular}_revision`]: {
          id,
          slug,
          version: this.#present.versionType === 'string' ? String(version) : version,
        },
      },
    }
  }

  #serialOf(artifact: ArtifactView): number {
    let serial = this.#serials.get(artifact)
    if (serial === undefined) this.#serials.set(artifact, (serial = ++this.#lastSerial))
    return serial
  }
}
