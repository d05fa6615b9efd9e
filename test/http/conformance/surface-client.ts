import { expect } from 'chai'
import { git } from '../../support/git/git-program.ts'
import type { Reply, RunningService } from '../../support/servers/service.ts'
import type { TestedSurface } from './tested-surface.ts'

// Tests look into records freely; the harness has held each against its schema.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Found = any

/** An artifact with one variant, and how many revisions were asked for. */
export interface Made {
  readonly slug: string
  readonly id: string
  readonly variantId: string
  /** Oldest first. */
  readonly revisions: readonly Found[]
}

/** Speaks to one surface in its own words; every arranging step asserts that it succeeded. */
export class SurfaceClient {
  readonly surface: TestedSurface
  readonly #service: () => RunningService
  #made = 0

  constructor(surface: TestedSurface, service: () => RunningService) {
    this.surface = surface
    this.#service = service
  }

  get service(): RunningService {
    return this.#service()
  }

  /** A slug that nothing has yet. */
  slug(prefix = 'thing'): string {
    return `${prefix}_${++this.#made}`
  }

  post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Reply> {
    return this.service.post(`/${this.surface.path}${path}`, body, headers)
  }

  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Reply> {
    return this.service.get(`/${this.surface.path}${path}`, headers)
  }

  put(path: string, body: unknown): Promise<Reply> {
    return this.service.put(`/${this.surface.path}${path}`, body)
  }

  /** `{"<singular><suffix>": value}`. */
  wrap(suffix: string, value: unknown): Record<string, unknown> {
    return { [`${this.surface.singular}${suffix}`]: value }
  }

  /** The record, or the list, that an answer holds under the surface's own name. */
  record(reply: Reply, suffix = ''): Found {
    expect(reply.status, reply.text).to.equal(200)
    const record = reply.body[`${this.surface.singular}${suffix}`]
    expect(record, reply.text).to.not.equal(undefined)
    return record
  }

  /** `{data}` that holds these marks. */
  payload(...marks: readonly string[]): { readonly data: object } {
    return { data: this.surface.family.data(...marks) }
  }

  /** The marks of the payload of a record. */
  marks({ data }: { readonly data: Found }): string[] {
    return this.surface.family.marks(data)
  }

  async artifact(more: object = {}): Promise<Found> {
    return this.record(await this.post('/', this.wrap('', { slug: this.slug(), ...more })))
  }

  async variant(artifactId: string, more: object = {}): Promise<Found> {
    const fields = { [`${this.surface.singular}_id`]: artifactId, ...more }
    return this.record(await this.post('/variants/', this.wrap('_variant', fields)), '_variant')
  }

  commit(variantId: string, fields: object, headers?: Readonly<Record<string, string>>): Promise<Reply> {
    const body = this.wrap('_revision_commit', {
      [`${this.surface.singular}_variant_id`]: variantId,
      ...fields,
    })
    return this.post('/revisions/commit', body, headers)
  }

  async committed(variantId: string, fields: object): Promise<Found> {
    return this.record(await this.commit(variantId, fields), '_revision')
  }

  /** An artifact with a default variant of the same slug and revisions with the marks `n1`, `n2` … */
  async made(revisions: number, more: object = {}): Promise<Made> {
    const counted = (n: number) => ({ message: `Count ${n}`, ...this.payload(`n${n}`) })
    const fields = { slug: this.slug(), ...(revisions > 0 ? counted(1) : {}), ...more }
    const flat = this.record(await this.service.post(`/simple/${this.surface.path}`, this.wrap('', fields)))
    const made = []
    if (revisions > 0) made.push(this.record(await this.get(`/revisions/${flat.revision_id}`), '_revision'))
    for (let n = 2; n <= revisions; n++) made.push(await this.committed(flat.variant_id, counted(n)))
    return { slug: flat.slug, id: flat.id, variantId: flat.variant_id, revisions: made }
  }

  /** What a diff of two references holds. */
  async diff(base: object, head: object): Promise<Found> {
    const { status, text, body } = await this.post('/revisions/diff', { base, head })
    expect(status, text).to.equal(200)
    expect(body.count).to.equal(1)
    return body.diff
  }

  retrieve(references: Readonly<Record<string, unknown>>): Promise<Reply> {
    return this.post('/revisions/retrieve', references)
  }

  async retrieved(references: Readonly<Record<string, unknown>>): Promise<Found> {
    return this.record(await this.retrieve(references), '_revision')
  }

  async log(variantId: string, more: object = {}): Promise<Found[]> {
    const body = { ...this.wrap('', { [`${this.surface.singular}_variant_id`]: variantId }), ...more }
    return this.record(await this.post('/revisions/log', body), '_revisions')
  }

  /** The rows that a query answers at a level (`''`, `_variant`, `_revision`). */
  async query(level: '' | '_variant' | '_revision', body: object): Promise<Found[]> {
    return this.rows(await this.post(`${pathOf(level)}/query`, body), level)
  }

  /** The rows of a list answer, whose count must agree. */
  rows(reply: Reply, level: '' | '_variant' | '_revision'): Found[] {
    expect(reply.status, reply.text).to.equal(200)
    const rows = reply.body[level === '' ? this.surface.plural : `${this.surface.singular}${level}s`]
    expect(rows, reply.text).to.be.an('array')
    expect(reply.body.count).to.equal(rows.length)
    return rows
  }

  async archive(level: '' | '/variants' | '/revisions', id: string, action = 'archive'): Promise<Found> {
    return this.record(await this.post(`${level}/${id}/${action}`), levelSuffix(level))
  }

  /** The folder of an artifact's repository. */
  repository(slug: string): string {
    return this.service.repository(slug, this.surface.family.folder)
  }

  /** Runs git in the repository of an artifact. */
  git(slug: string, ...args: readonly string[]): string {
    return git(this.repository(slug), args)
  }
}

/** The path segment of a level. */
export function pathOf(level: '' | '_variant' | '_revision'): string {
  return level === '' ? '' : `/${level.slice(1)}s`
}

function levelSuffix(level: '' | '/variants' | '/revisions'): string {
  return level === '' ? '' : `_${level.slice(1, -1)}`
}

/** Asserts a refusal by status and code, and that its sentence says each of `words`. */
export function expectRefusal(reply: Reply, status: number, code: string, ...words: readonly string[]): void {
  expect(reply.status, reply.text).to.equal(status)
  expect(reply.headers.get('content-type')).to.match(/^application\/problem\+json/)
  expect(reply.body).to.include({ status, code, count: 0 })
  for (const word of words) expect(reply.body.detail).to.include(word)
}
