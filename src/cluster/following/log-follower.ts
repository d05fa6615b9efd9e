import { renewReadEpoch } from '../../base/scheduling.ts'
import { announceWrites, type Decision, type Freshness } from '../../git/transactions.ts'
import type { Copy } from './folder/copy.ts'
import { OwnDecisions } from './own-decisions.ts'
import { FolderFill } from './folder/folder-fill.ts'
import { placeEntry } from './folder/place-entry.ts'
import { type FolderPosition, savePosition } from './folder/position-file.ts'
import { repair, type Repaired, repositoriesIn } from './folder/repair.ts'
import {
  type LogEntry,
  type Look,
  NotInLog,
  type Positions,
  type StreamPosition,
  unlessForgotten,
} from './shared-log.ts'
import { liveFolder } from '../../git/trash.ts'

/** How often (milliseconds) the folder is brought up to date without requests, because plain git reads it too. */
const MS_BETWEEN_LOOKS = 1000

const MAX_LOCAL_AGE_MS = 1000

/** The minimum time between saves of the position. Saving seldom is safe, because replaying entries after a crash changes nothing. */
const MIN_MS_BETWEEN_SAVES = 200

/** Makes a server's folder follow the log: applies the decisions of other servers, each repository's in the order of its versions. */
export class LogFollower {
  /** Resolves when no batch of this server is being appended. */
  untilAppended: () => Promise<void> = async () => undefined
  readonly #copy: Copy
  readonly #own = new OwnDecisions()
  /** Positions of other servers' streams; for this server's own stream, how far it was read from the log. */
  #positions: Positions
  #era: string
  /** The number of the documents that the folder has (see Look). */
  #documents: number | undefined
  /** The start of the last look whose content is completely in the folder, on the clock of `performance`. */
  #freshSince = -Infinity
  /** Repositories that are newer in the folder than the positions, with their versions. */
  readonly #repaired = new Map<string, number>()
  /** Repositories in which a decision of this server could not be placed. */
  readonly #broken = new Set<string>()
  /** Set while the folder is being filled. */
  #fill: FolderFill | undefined
  /** The change of the folder that is running, and those queued behind it. */
  #work: Promise<unknown> = Promise.resolve()
  #current: Promise<void> | undefined
  #next: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #savedAt = 0
  #isClosed = false

  /** `position` is how far the folder is; undefined if that is unknown. */
  constructor(copy: Copy, position: FolderPosition | undefined) {
    this.#copy = copy
    this.#positions = position?.positions ?? new Map()
    this.#era = position?.era ?? ''
    this.#own.restart(this.#positions.get(copy.log.stream))
    if (!position || position.filled !== undefined) this.#fill = this.#newFill(position?.filled ?? '')
    copy.log.onNews(() => {
      if (!this.#isClosed) void this.fresh().catch(() => undefined)
    })
  }

  /** Set while the folder is being filled. */
  get filling(): FolderFill | undefined {
    return this.#fill
  }

  /** Looks for the first time; resolves when the folder is a complete copy, or is far enough to be served (see FolderFill). */
  async begin(): Promise<void> {
    await this.#copy.documents.open()
    // Positions are read before the repositories, so the repositories are at least as new.
    if (this.#fill && this.#era === '') {
      const { era, positions } = await this.#copy.log.look()
      this.#goOnFrom(era, positions)
    }
    await this.fresh()
    void this.#fill?.whole.then(() => this.#filled()).catch(() => undefined) // if saving fails, it is saved a moment later
    await this.#fill?.begin()
    this.#again()
  }

  /** Applies everything that the log has now. One look runs at a time; calls during it share the next look. */
  fresh(): Promise<void> {
    if (!this.#current && !this.#next) return (this.#current = this.#alone(() => this.#round()))
    return (this.#next ??= (this.#current ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined
        return (this.#current = this.#alone(() => this.#round()))
      }))
  }

  /**
   * Makes the folder fresh enough for a read under READS. With `local`, a look of the last second suffices unless another server has sent a
   * hint.
   */
  async readable(): Promise<Freshness> {
    const { reads, hasNews } = this.#copy.log
    const isSpared = reads === 'local' && !hasNews && performance.now() - this.#freshSince < MAX_LOCAL_AGE_MS
    if (!isSpared) await this.fresh()
    return { by: reads, since: this.#freshSince }
  }

  /** Resolves when every decision of this server so far is in the folder, or could not be placed there. */
  async untilPlaced(): Promise<void> {
    await this.untilAppended()
    await this.#own.untilPlaced()
  }

  /** Records a decided batch of this server; answers its decisions. `repositories` has the repositories that each of them writes to. */
  decided(position: StreamPosition, repositories: readonly (readonly string[])[]): Decision[] {
    return this.#own.decided(position, repositories.length, (number) => {
      for (const repository of repositories[number] ?? []) this.#broken.add(repository)
    })
  }

  async repairAll(): Promise<void> {
    this.#era = ''
    await this.fresh()
  }

  /** Saves how far the folder is. */
  save(): void {
    const { fs, dir, log } = this.#copy
    if (this.#era === '') return
    const own = this.#ownPosition()
    const positions = new Map(this.#positions)
    if (own) positions.set(log.stream, own)
    savePosition(fs, dir, { stream: log.stream, era: this.#era, positions, filled: this.#fill?.last })
    this.#savedAt = Date.now()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#fill?.close()
    await this.#work
    await this.#current?.catch(() => undefined)
    await this.#next?.catch(() => undefined)
    await this.#own.untilPlaced()
    this.save()
  }

  #again(): void {
    if (this.#isClosed) return
    this.#timer = setTimeout(() => {
      void this.fresh()
        .catch(() => undefined)
        .then(() => this.#again())
    }, MS_BETWEEN_LOOKS).unref()
  }

  #newFill(last: string): FolderFill {
    const onTaken = (repaired: Repaired): void => {
      this.#keep(repaired)
      if (Date.now() - this.#savedAt > MIN_MS_BETWEEN_SAVES) this.save()
    }
    return new FolderFill({ copy: this.#copy, alone: this.#alone.bind(this), onTaken }, last)
  }

  #filled(): void {
    this.#fill = undefined
    this.save()
  }

  /** Runs work while nothing else changes the folder. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work)
    this.#work = done.catch(() => undefined)
    return done
  }

  async #round(): Promise<void> {
    try {
      const number = this.#copy.own.begin()
      // Read before the look, whose answer may lack what is decided meanwhile.
      const own = this.#ownPosition()
      const look = await this.#copy.log.look()
      if (this.#isAhead(look, own)) await this.#takeAll()
      else {
        const [isWhole] = await Promise.all([this.#takeIn(look), this.#followDocuments(look)])
        if (!isWhole) await this.#takeAll()
      }
      if (this.#broken.size > 0) await this.#repairBroken()
      this.#copy.own.ended(number)
      this.#freshSince = look.asked
    } finally {
      this.#current = undefined
    }
  }

  async #followDocuments({ documents }: Look): Promise<void> {
    if (documents === this.#documents) return
    await this.#copy.documents.follow()
    this.#documents = documents
  }

  /** Whether the folder may have changes that the log lost, or is not a copy yet. */
  #isAhead({ era, positions }: Look, own: StreamPosition | undefined): boolean {
    if (era !== this.#era) return true
    const applied = new Map(this.#positions)
    if (own) applied.set(this.#copy.log.stream, own)
    return [...applied].some(([stream, { n }]) => (positions.get(stream)?.n ?? 0) < n)
  }

  /** Applies the entries after the folder's position, up to those of a look. Answers false if the log no longer has some of them. */
  async #takeIn(look: Look): Promise<boolean> {
    const { log } = this.#copy
    const isNew = ([stream, { n }]: readonly [string, StreamPosition]): boolean =>
      n > ((stream === log.stream ? this.#ownPosition() : this.#positions.get(stream))?.n ?? 0)
    if (![...look.positions].some(isNew)) return true
    // Entries of this server's own stream are applied only if the answer to their batch was lost.
    await this.untilPlaced()
    const own = this.#ownPosition()
    const from = new Map(this.#positions)
    if (own) from.set(log.stream, own)
    const to = new Map(look.positions)
    if (own && (to.get(log.stream)?.n ?? 0) < own.n) to.set(log.stream, own)
    if (![...to].some(([stream, { n }]) => n > (from.get(stream)?.n ?? 0))) return true
    const found = await unlessForgotten(log.read(from, to))
    if (!found) return false
    const entries = inOrder(found)
    for (const entry of entries) await this.#place(entry)
    this.#positions = to
    this.#own.restart(to.get(log.stream))
    this.#tell(entries.flatMap(repositoriesOf))
    if (Date.now() - this.#savedAt > MIN_MS_BETWEEN_SAVES) this.save()
    return true
  }

  async #place(entry: LogEntry): Promise<void> {
    const isDone = (repository: string, version: number): boolean =>
      version <= this.#versionOf(repository) || this.#fill?.isToCome(repository) === true
    const writes = entry.writes.filter(({ repository, version }) => !isDone(repository, version))
    const [repository] = repositoriesOf({ ...entry, writes: [] })
    const version = entry.moved?.version ?? entry.purged?.version ?? 0
    const isMoved = repository !== undefined && isDone(repository, version)
    const left = isMoved ? { ...entry, writes, moved: undefined, purged: undefined } : { ...entry, writes }
    try {
      await placeEntry(this.#copy, left)
    } catch (error) {
      if (!(error instanceof NotInLog)) throw error
      this.#keep(await repair(this.#copy, repositoriesOf(left)))
    }
  }

  /** Makes the whole folder equal to the log's current state. */
  async #takeAll(): Promise<void> {
    await this.untilPlaced()
    this.#copy.own.forget()
    // Positions are read before the repositories, so the repositories are at least as new.
    const { era, positions } = await this.#copy.log.look()
    // The fill adds the remaining repositories in their current state.
    const repaired = await repair(this.#copy, this.#fill && repositoriesIn(this.#copy))
    this.#repaired.clear()
    this.#keep(repaired)
    await this.#copy.documents.open()
    this.#goOnFrom(era, positions)
    // A repository created since the last look may be missing, and no later look would bring it.
    this.#fill?.beginAgain()
    this.#tell(repaired.changed)
    this.save()
  }

  #goOnFrom(era: string, positions: Positions): void {
    this.#era = era
    this.#positions = positions
    this.#own.restart(positions.get(this.#copy.log.stream), true)
  }

  async #repairBroken(): Promise<void> {
    const broken = [...this.#broken]
    const repaired = await repair(this.#copy, broken)
    for (const repository of broken) this.#broken.delete(repository)
    this.#keep(repaired)
    this.#tell(broken)
  }

  #keep({ versions }: Repaired): void {
    for (const [repository, version] of versions) this.#repaired.set(repository, version)
  }

  #versionOf(repository: string): number {
    return this.#repaired.get(repository) ?? 0
  }

  #ownPosition(): StreamPosition | undefined {
    return this.#own.settled ?? this.#positions.get(this.#copy.log.stream)
  }

  /** Makes readers read the repositories again, including requests that have already read them. */
  #tell(repositories: Iterable<string>): void {
    announceWrites(this.#copy.fs, this.#copy.dir, new Set(repositories))
    renewReadEpoch()
  }
}

/**
 * Sorts entries so that they can be applied: each repository's by its version. A look includes everything before an entry, so no version is
 * missing in between.
 */
export function inOrder(entries: readonly LogEntry[]): LogEntry[] {
  const before = new Map<LogEntry, number>()
  const after = new Map<LogEntry, LogEntry[]>()
  for (const steps of stepsOf(entries).values()) {
    steps.sort((a, b) => a.version - b.version)
    for (const [index, { entry }] of steps.entries()) {
      const next = steps[index + 1]?.entry
      if (!next || next === entry) continue
      after.set(entry, [...(after.get(entry) ?? []), next])
      before.set(next, (before.get(next) ?? 0) + 1)
    }
  }
  const ordered = entries.filter((entry) => !before.has(entry))
  // `ordered` grows during the loop.
  for (const entry of ordered) {
    for (const next of after.get(entry) ?? []) {
      const left = (before.get(next) ?? 0) - 1
      before.set(next, left)
      if (left === 0) ordered.push(next)
    }
  }
  if (ordered.length < entries.length) throw new Error('entries of the log wait for each other')
  return ordered
}

/** The entries that change each repository, with its versions. */
function stepsOf(
  entries: readonly LogEntry[],
): Map<string, { readonly entry: LogEntry; readonly version: number }[]> {
  const all = new Map<string, { readonly entry: LogEntry; readonly version: number }[]>()
  const add = (repository: string, entry: LogEntry, version: number): void => {
    const steps = all.get(repository)
    if (steps) steps.push({ entry, version })
    else all.set(repository, [{ entry, version }])
  }
  for (const entry of entries)
    for (const [repository, version] of touchedBy(entry)) add(repository, entry, version)
  return all
}

/** The repositories that an entry changes, with the versions that it makes. */
function* touchedBy({ writes, moved, purged }: LogEntry): Generator<readonly [string, number]> {
  for (const { repository, version } of writes) yield [repository, version]
  if (moved) yield [liveFolder(moved), moved.version]
  if (purged) yield [purged.repository, purged.version]
}

/** The repositories that an entry changes. */
function repositoriesOf({ writes, moved, purged }: LogEntry): string[] {
  return [
    ...writes.map(({ repository }) => repository),
    ...(moved ? [liveFolder(moved)] : []),
    ...(purged ? [purged.repository] : []),
  ]
}
