import { z } from 'zod'
import type { Oid } from '../../git/objects.ts'
import { parsedOrUndefined } from '../../base/json.ts'
import type { Lease, Fs } from '../../storage/files.ts'
import type { ArtifactView } from '../../registry/artifacts.ts'
import { pathOf, type ArtifactList } from '../../registry/registries.ts'
import type { ProjectWebhooks } from './project-webhooks.ts'

/** How an artifact was when webhooks were last told of it. */
export interface PublishCursor {
  /** `<family>/<slug>`. */
  readonly path: string
  readonly id: string
  /** The commit of refs/meta/artifact. */
  readonly meta: Oid
  /** The branches' commits by variant slug. */
  readonly heads: ReadonlyMap<string, Oid>
  /** When it was told, in milliseconds since 1970. */
  readonly at: number
}

/** What telling of everything in this view leaves behind. */
export function cursorOf({ family, slug, id, metaCommit, variants }: ArtifactView, now: Date): PublishCursor {
  const heads = new Map<string, Oid>()
  for (const variant of variants) if (variant.head !== undefined) heads.set(variant.slug, variant.head)
  return { path: pathOf(family, slug), id, meta: metaCommit, heads, at: now.getTime() }
}

/** Whether there is nothing in the view to tell. */
export function isPublished(view: ArtifactView, before: PublishCursor | undefined): boolean {
  if (before?.id !== view.id || before.meta !== view.metaCommit) return false
  return view.variants.every(({ slug, head }) => before.heads.get(slug) === head)
}

/** So many lines more than artifacts make the log worth writing anew. */
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
 * How far webhooks were told of each artifact: a line is added after its events are in the outbox, the last one of an artifact
 * counts. It is not synced, because what it says too little is worked out again, with the same ids, and known again by these.
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

  /** Reads the log of a project; a line that cannot be read counts as absent. */
  static async open(fs: Fs, folder: string, lease: Lease): Promise<CursorLog> {
    const log = new CursorLog(fs, folder, lease)
    for (const text of fs.readFile(log.#path)?.toString('utf8').split('\n') ?? []) {
      const read = line.safeParse(parsedOrUndefined(text))
      if (read.success) log.#take({ ...read.data, heads: new Map(read.data.heads) })
    }
    await log.#rewrite()
    return log
  }

  /** Begins the log where everything in these views is told; nothing that happened before will be. */
  static async begin(
    { fs, folder, settings }: ProjectWebhooks,
    lease: Lease,
    views: Iterable<ArtifactView>,
  ): Promise<void> {
    const log = new CursorLog(fs, folder, lease)
    for (const view of views) log.#take(cursorOf(view, settings.now()))
    await log.#rewrite()
  }

  /** Whether it has been begun. */
  static exists(fs: Fs, folder: string): boolean {
    return fs.stat(logPath(folder)) !== undefined
  }

  /** When something was told last, in milliseconds since 1970. */
  get latest(): number {
    return this.#latest
  }

  get(path: string): PublishCursor | undefined {
    return this.#told.get(path)
  }

  /** Notes what was told of an artifact. */
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

/** Notes that everything there is now is told, unless there are such notes already: a project's first webhook begins here. */
export async function beginCursorLog(project: ProjectWebhooks, lease: Lease): Promise<void> {
  const { registry, fs, folder } = project
  if (CursorLog.exists(fs, folder)) return
  const lists: ArtifactList[] = []
  for (const family of registry.families) lists.push(await registry.index.list(family))
  await CursorLog.begin(project, lease, viewsOf(lists))
}

/** One after the other, so that they are not in memory together. */
function* viewsOf(lists: readonly ArtifactList[]): Generator<ArtifactView, void, undefined> {
  for (const list of lists) yield* list
}
