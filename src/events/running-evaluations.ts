import type { ProjectEvaluations } from '../evaluations/project-evaluations.ts'
import type { Registry } from '../versioning/registry.ts'
import { evaluationEvent, type LiveEvent } from './live-event.ts'

/** A folder that was changed so few milliseconds ago may be changed again without its time telling. */
const SAME_TIME = 100

/**
 * Sees evaluations of a project begin and end, whichever server runs them: each has a log in their folder, and a lease while it runs.
 * One that is resumed and over between two looks is seen by its log, which is newer than the last look.
 */
export class RunningEvaluations {
  readonly #registry: Registry
  readonly #evaluations: ProjectEvaluations
  #modified: number | undefined
  #lookedAt: number | undefined
  /** The names that the last look found. */
  #names: ReadonlySet<string> | undefined

  constructor(registry: Registry, evaluations: ProjectEvaluations) {
    this.#registry = registry
    this.#evaluations = evaluations
  }

  /** What has begun and ended since the last look; nothing the first time. Costs one stat where nothing has. */
  async look(): Promise<readonly LiveEvent[]> {
    const { fs, folder } = this.#registry.store
    const path = `${folder}/evaluations`
    const modified = fs.stat(path)?.modified
    const isOld = Date.now() - (modified ?? 0) > SAME_TIME
    const lastModified = this.#modified
    // Leases of servers with folders of their own are not seen in the folder.
    const isShared = fs.documents !== undefined
    if (!isShared && this.#names && modified === lastModified && isOld) return []
    const lookedAt = this.#lookedAt
    this.#lookedAt = Date.now()
    this.#modified = modified
    const leases = (await this.#evaluations.running()).map((id) => `${id}.lock`)
    const logs = (fs.readDir(path) ?? []).filter((name) => name.endsWith('.jsonl'))
    const names = new Set([...logs, ...leases])
    const before = this.#names ?? names
    this.#names = names
    const appeared = [...names].filter((name) => !before.has(name))
    const ended = [...before].filter((name) => name.endsWith('.lock') && !names.has(name))
    const isSame = appeared.length + ended.length === 0 && (isShared || modified !== lastModified)
    const since = isShared ? lookedAt : lastModified
    const short = isSame && since !== undefined ? logsSince(fs, path, names, since) : []
    const ids = new Set([...appeared, ...ended, ...short].map((name) => name.slice(0, name.lastIndexOf('.'))))
    return (await Promise.all([...ids].map((id) => this.#eventOf(id)))).filter((it) => it !== undefined)
  }

  async #eventOf(id: string): Promise<LiveEvent | undefined> {
    try {
      return evaluationEvent(await this.#evaluations.get(id), this.#registry.now())
    } catch {
      // It was refused before it was one, or its log cannot be read: whoever asks for it is told.
      return undefined
    }
  }
}

/** Logs that were written since then: of evaluations whose lock came and went while nobody looked. */
function logsSince(
  fs: Registry['store']['fs'],
  path: string,
  names: ReadonlySet<string>,
  since: number,
): readonly string[] {
  return [...names].filter(
    (name) =>
      name.endsWith('.jsonl') &&
      !names.has(name.replace(/jsonl$/, 'lock')) &&
      (fs.stat(`${path}/${name}`)?.modified ?? 0) > since,
  )
}
