import { z } from 'zod'
import type { Oid } from '../../git/objects.ts'
import { parsedOrUndefined } from '../../base/json.ts'
import type { Lease, Fs } from '../../storage/files.ts'
import type { ArtifactView } from '../../registry/artifacts.ts'
import { pathOf, type ArtifactList } from '../../registry/registries.ts'
import type { ProjectWebhooks } from './project-webhooks.ts'

/** The state of an artifact at the last publication of its events. */
export interface PublishCursor {
  /** `<family>/<slug>`. */
  readonly path: string
  readonly id: string
  /** The commit of refs/meta/artifact. */
  readonly meta: Oid
  /** The branches' commits by variant slug. */
  readonly heads: ReadonlyMap<string, Oid>
  /** The time of that publication, in milliseconds since 1970. */
  readonly at: number
}

/** The cursor after publishing everything in this view. */
export function cursorOf({ family, slug, id, metaCommit, variants }: ArtifactView, now: Date): PublishCursor {
  const heads = new Map<string, Oid>()
  for (const variant of variants) if (variant.head !== undefined) heads.set(variant.slug, variant.head)
  return { path: pathOf(family, slug), id, meta: metaCommit, heads, at: now.getTime() }
}

/** Whether the view has nothing to publish. */
export function isPublished(view: ArtifactView, before: PublishCursor | undefined): boolean {
  if (before?.id !== view.id || before.meta !== view.metaCommit) return false
  return view.variants.every(({ slug, head }) => before.heads.get(slug) === head)
}

/** The log is rewritten when it has this many lines more than artifacts. */
const SURPLUS = 10_000

/** A line of the log. */
const line = z.strictObject({
  path: z.string(),
  id: z.string(),
  meta: z.string(),
  heads: z.array(z.tuple([z.string(), z.string()])),
  at: z.number(),
})

/**
 * The publish cursors of artifacts: a line is added after an artifact's events are in the outbox, and its last line counts. The file is not
 * synced: if lines are lost, the same events are computed again, with the same ids, by which they are recognised.
 */
export class CursorLog {
  readonly #fs: Fs
  readonly #path: string
  readonly #lease: Lease
  readonly #told = new Map<string, PublishCursor>()
  #lines = 0
  #latest = 0

  private constructor(fs: Fs, folder: string, lease: Lease) {
    this.#fs = fs
    this.#path = logPath(folder)
    this.#lease = lease
  }

  /** Opens the log of a project; an unreadable line counts as absent. */
  static async open(fs: Fs, folder: string, lease: Lease): Promise<CursorLog> {
    const log = new CursorLog(fs, folder, lease)
    for (const text of fs.readFile(log.#path)?.toString('utf8').split('\n') ?? []) {
      const read = line.safeParse(parsedOrUndefined(text))
      if (read.success) log.#take({ ...read.data, heads: new Map(read.data.heads) })
    }
    await log.#rewrite()
    return log
  }

  /** Begins the log with everything in these views as published, so that earlier events are never sent. */
  static async begin(
    { fs, folder, settings }: ProjectWebhooks,
    lease: Lease,
    views: Iterable<ArtifactView>,
  ): Promise<void> {
    const log = new CursorLog(fs, folder, lease)
    for (const view of views) log.#take(cursorOf(view, settings.now()))
    await log.#rewrite()
  }

  /** Whether the log exists. */
  static exists(fs: Fs, folder: string): boolean {
    return fs.stat(logPath(folder)) !== undefined
  }

  /** The time of the last publication, in milliseconds since 1970. */
  get latest(): number {
    return this.#latest
  }

  get(path: string): PublishCursor | undefined {
    return this.#told.get(path)
  }

  /** Records what was published of an artifact. */
  async add(told: PublishCursor): Promise<void> {
    const isThere = this.#fs.stat(this.#path) !== undefined
    if (isThere) await this.#lease.append(this.#path, Buffer.from(encode(told)), { mayBeLost: true })
    this.#take(told)
    if (!isThere || this.#lines > this.#told.size + SURPLUS) await this.#rewrite()
  }

  #take(told: PublishCursor): void {
    this.#told.set(told.path, told)
    this.#latest = Math.max(this.#latest, told.at)
    this.#lines++
  }

  async #rewrite(): Promise<void> {
    const bytes = Buffer.from([...this.#told.values()].map(encode).join(''))
    await this.#lease.put(this.#path, bytes, { mayBeLost: true })
    this.#lines = this.#told.size
  }
}

function logPath(folder: string): string {
  return `${folder}/told`
}

function encode({ heads, ...told }: PublishCursor): string {
  return `${JSON.stringify({ ...told, heads: [...heads] })}\n`
}

/** Marks everything that exists now as published, unless the log exists: a project's first webhook begins here. */
export async function beginCursorLog(project: ProjectWebhooks, lease: Lease): Promise<void> {
  const { registry, fs, folder } = project
  if (CursorLog.exists(fs, folder)) return
  const lists: ArtifactList[] = []
  for (const family of registry.families) lists.push(await registry.index.list(family))
  await CursorLog.begin(project, lease, viewsOf(lists))
}

/** One list after the other, so that they are not in memory together. */
function* viewsOf(lists: readonly ArtifactList[]): Generator<ArtifactView, void, undefined> {
  for (const list of lists) yield* list
}
