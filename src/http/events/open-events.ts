import { Refusal } from '../../errors.ts'
import type { ProjectEvaluations } from '../../run/evaluations.ts'
import { Semaphore } from '../../base/scheduling.ts'
import type { Registry } from '../../registry/registries.ts'
import { ChangeTeller } from './change-teller.ts'
import { evaluationEvent, type EventLimit, limitedEvent, type LiveEvent } from './live-event.ts'
import { randomBytes } from 'node:crypto'
import { stringifyJson } from '../../base/json.ts'

/** Streams the events of all projects of this process. */
export class OpenEvents {
  readonly #evaluationsOf: (registry: Registry) => ProjectEvaluations
  readonly #projects = new Map<Registry, ProjectEvents>()
  readonly #permits: Semaphore
  /** The number of followers of each project and of each key. */
  readonly #followersOf = new Map<Registry | string, number>()
  #isClosed = false

  /** `most` is the maximum number of followers. */
  constructor(evaluationsOf: (registry: Registry) => ProjectEvaluations, most: number) {
    this.#evaluationsOf = evaluationsOf
    this.#permits = new Semaphore(most)
  }

  get followers(): number {
    return this.#permits.load.running
  }

  /**
   * Streams server-sent events until the connection is closed. Refuses with `overloaded` if the maximum is reached, and with
   * `too_many_connections` if a project has half of it, or the key with this id a quarter, so that no client takes all.
   */
  async *follow(registry: Registry, keyId: string, following: Following): AsyncGenerator<string> {
    const { capacity } = this.#permits
    this.#assertRoom(keyId, Math.ceil(capacity / 4), 'key')
    const { whole, limit } = registry
    this.#assertRoom(whole, Math.ceil(capacity / 2), 'project')
    const release = this.#isClosed ? undefined : this.#permits.tryAcquire()
    if (!release) throw this.#refusal()
    for (const owner of [keyId, whole]) this.#count(owner, 1)
    try {
      yield* this.#of(whole).follow(following, limit)
    } finally {
      for (const owner of [keyId, whole]) this.#count(owner, -1)
      release()
    }
  }

  #assertRoom(owner: Registry | string, most: number, what: string): void {
    if ((this.#followersOf.get(owner) ?? 0) < most) return
    throw new Refusal(
      'too_many_connections',
      `This ${what} has ${most} connections to /events, the most that one ${what} may have. Close one, or share one between several readers.`,
    )
  }

  #count(owner: Registry | string, change: number): void {
    const count = (this.#followersOf.get(owner) ?? 0) + change
    if (count > 0) this.#followersOf.set(owner, count)
    else this.#followersOf.delete(owner)
  }

  #refusal(): Refusal {
    return new Refusal(
      'overloaded',
      this.#isClosed
        ? 'This server is about to stop. Ask again once it has started.'
        : `This server tells ${this.#permits.capacity} clients already what happens, the most that it takes at once. Close one of yours, or have the operator ` +
            'raise EVENTS_AT_ONCE.',
    )
  }

  /** Ends every connection. */
  close(): void {
    this.#isClosed = true
    for (const project of this.#projects.values()) project.close()
  }

  #of(registry: Registry): ProjectEvents {
    let project = this.#projects.get(registry)
    if (!project) {
      project = new ProjectEvents(registry, this.#evaluationsOf(registry))
      this.#projects.set(registry, project)
    }
    return project
  }
}

/** How often (milliseconds) changes of other servers, and evaluations, are looked for. */
const MS_BETWEEN_LOOKS = 500
/** How often (milliseconds) an idle connection gets a reminder (interface 13.8). */
const MS_BETWEEN_REMINDERS = 15_000
/** How long events are kept after the last follower has left, because it may reconnect. */
const LINGER_MS = 60_000

const REMINDER = ': still here\n\n'

interface Following {
  /** The id of the last event that the client has, if it reconnects. */
  readonly lastId: string | undefined
  /** Whether the client may still read. */
  readonly isStillIn: () => boolean
  /** Aborted when the client disconnects. */
  readonly gone: AbortSignal
}

/** Streams the events of a project to its followers. Without followers, after a minute, nothing is recorded. */
class ProjectEvents {
  readonly #registry: Registry
  readonly #evaluations: ProjectEvaluations
  readonly #followers = new Set<Follower>()
  #log: EventLog | undefined
  #stop: () => void = () => undefined
  #lingering: NodeJS.Timeout | undefined

  constructor(registry: Registry, evaluations: ProjectEvaluations) {
    this.#registry = registry
    this.#evaluations = evaluations
  }

  /**
   * Streams events as server-sent events, starting with those missed since `lastId`. Ends when the client loses its rights, reads too slowly,
   * or disconnects.
   */
  async *follow({ lastId, isStillIn, gone }: Following, limit?: EventLimit): AsyncGenerator<string> {
    clearTimeout(this.#lingering)
    const log = (this.#log ??= this.#begin())
    const follower = new Follower(isStillIn, limit)
    follower.push(log.greeting(lastId, limit))
    this.#followers.add(follower)
    // The generator is suspended while it waits for the next piece, so the follower is ended directly.
    gone.addEventListener('abort', () => follower.end(), { once: true })
    if (gone.aborted) follower.end()
    try {
      yield* follower.pieces()
    } finally {
      this.#followers.delete(follower)
      if (this.#followers.size === 0) this.#lingering = setTimeout(() => this.#end(), LINGER_MS).unref()
    }
  }

  /** Ends every connection. */
  close(): void {
    for (const follower of this.#followers) follower.end()
    clearTimeout(this.#lingering)
    this.#end()
  }

  #begin(): EventLog {
    const log = new EventLog()
    const send = (sent: SentEvent): void => this.#followers.forEach((it) => it.push(textFor(sent, it.limit)))
    const teller = new ChangeTeller(this.#registry, {
      event: (event) => send(log.add(event)),
      reset: () => send(log.addReset()),
    })
    const evaluations = new RunningEvaluations(this.#registry, this.#evaluations)
    let isLooking = false
    const look = async (): Promise<void> => {
      if (isLooking) return
      isLooking = true
      try {
        for (const event of await evaluations.look()) send(log.add(event))
        await this.#registry.index.heed()
      } catch {
        // Requests report errors of the disk; the next look tries again.
      } finally {
        isLooking = false
      }
    }
    void look()
    const looking = setInterval(() => void look(), MS_BETWEEN_LOOKS).unref()
    const reminding = setInterval(
      () => this.#followers.forEach((it) => it.remind(REMINDER)),
      MS_BETWEEN_REMINDERS,
    ).unref()
    this.#stop = () => {
      teller.stop()
      clearInterval(looking)
      clearInterval(reminding)
    }
    return log
  }

  #end(): void {
    this.#stop()
    this.#stop = () => undefined
    this.#log = undefined
  }
}

/** Twice what a reconnecting client gets at once. A client with more waiting reads too slowly and is disconnected. */
const MAX_CHARACTERS_WAITING = 512 * 1024

/** A client that follows a project: gets the pushed texts in order. */
export class Follower {
  readonly #isStillIn: () => boolean
  /** What its key is limited to, if anything. */
  readonly limit: EventLimit | undefined
  #waiting: string[] = []
  #length = 0
  #isOver = false
  #wake: (() => void) | undefined

  /** `isStillIn` tells whether the client may still read; called before each piece. */
  constructor(isStillIn: () => boolean, limit?: EventLimit) {
    this.#isStillIn = isStillIn
    this.limit = limit
  }

  push(text: string): void {
    if (this.#isOver || text === '') return
    this.#waiting.push(text)
    this.#length += text.length
    if (this.#length > MAX_CHARACTERS_WAITING) this.end()
    else this.#wake?.()
  }

  /** Sends a reminder if nothing waits; ends the stream if the client may no longer read. */
  remind(text: string): void {
    if (!this.#isStillIn()) this.end()
    else if (this.#waiting.length === 0) this.push(text)
  }

  /** Ends the stream, without what waits. */
  end(): void {
    this.#isOver = true
    this.#waiting = []
    this.#wake?.()
  }

  /** The pushed texts, joined into pieces, until the end. */
  async *pieces(): AsyncGenerator<string> {
    for (;;) {
      while (this.#waiting.length === 0 && !this.#isOver)
        await new Promise<void>((resolve) => (this.#wake = resolve))
      this.#wake = undefined
      if (this.#isOver || !this.#isStillIn()) return
      const piece = this.#waiting.join('')
      this.#waiting = []
      this.#length = 0
      yield piece
    }
  }
}

/** Within this time (milliseconds), another change of a folder may leave its time unchanged. */
const SAME_TIME_MS = 100

/**
 * Detects evaluations of a project that begin or end on any server. Each has a log, and a lease while it runs. One that is resumed and ends
 * between two looks is recognised by its log, which is newer than the last look.
 */
class RunningEvaluations {
  readonly #registry: Registry
  readonly #evaluations: ProjectEvaluations
  #modified: number | undefined
  #lookedAt: number | undefined
  /** The names found by the last look. */
  #names: ReadonlySet<string> | undefined

  constructor(registry: Registry, evaluations: ProjectEvaluations) {
    this.#registry = registry
    this.#evaluations = evaluations
  }

  /** The evaluations that began or ended since the last look; none the first time. Costs one stat if nothing changed. */
  async look(): Promise<readonly LiveEvent[]> {
    const { fs, folder } = this.#registry.store
    const path = `${folder}/evaluations`
    const modified = fs.stat(path)?.modified
    const isOld = Date.now() - (modified ?? 0) > SAME_TIME_MS
    const lastModified = this.#modified
    // Leases of servers with their own folders are not files here.
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
      // The evaluation was refused, or its log is unreadable; requests for it report that.
      return undefined
    }
  }
}

/** Logs written since then without a lock: their evaluations ran between two looks. */
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

/** Kept for clients that reconnect. */
const MAX_EVENTS_KEPT = 1000
const MAX_CHARACTERS_KEPT = 256 * 1024

/** An event as it is sent: its id, its text, and what that is made of; a reset has no event. */
interface SentEvent {
  readonly id: string
  readonly text: string
  readonly event?: LiveEvent
}

interface Numbered extends SentEvent {
  readonly number: number
}

/** The event's text for a client; for a key that is limited to folders without what it does not see, or empty. */
function textFor({ id, text, event }: SentEvent, limit: EventLimit | undefined): string {
  if (!limit || !event) return text
  const shown = limitedEvent(event, limit)
  return shown ? textOf(id, shown) : ''
}

function textOf(id: string, event: LiveEvent | undefined): string {
  const text = event ? `event: ${event.kind}\ndata: ${stringifyJson(event.data)}\n` : RESET
  return `id: ${id}\n${text}\n`
}

/**
 * The last events as texts (server-sent events, WHATWG HTML 9.2), with ids `<name of this log>:<number>`. A client that reconnects with the
 * id of its last event gets those after it.
 */
export class EventLog {
  /** A random name, different for each server and start. */
  readonly #name = randomBytes(6).toString('hex')
  readonly #kept: Numbered[] = []
  #length = 0
  #last = 0

  /** Adds an event; answers it as it is sent. */
  add(event: LiveEvent): SentEvent {
    return this.#add(event)
  }

  /** Forgets all kept events, because some could not be published; answers the reset event. */
  addReset(): SentEvent {
    this.#kept.length = 0
    this.#length = 0
    return this.#add()
  }

  /** The first text for a client: the current id, with missed events, or a reset if they are not available. */
  greeting(lastId: string | undefined, limit?: EventLimit): string {
    if (lastId === undefined) return this.#here()
    const missed = this.#after(lastId)
    return missed
      ? `${this.#here(lastId)}${missed.map((it) => textFor(it, limit)).join('')}`
      : `${RESET}${this.#here()}`
  }

  /** Sets the client's last id, without an event. */
  #here(id = this.#id(this.#last)): string {
    return `id: ${id}\n\n`
  }

  #add(event?: LiveEvent): SentEvent {
    const number = ++this.#last
    const id = this.#id(number)
    const sent = { id, text: textOf(id, event), ...(event && { event }) }
    this.#kept.push({ ...sent, number })
    this.#length += sent.text.length
    while (this.#kept.length > MAX_EVENTS_KEPT || this.#length > MAX_CHARACTERS_KEPT)
      this.#length -= this.#kept.shift()?.text.length ?? 0
    return sent
  }

  /** The events after this id; undefined if it is of another log, or not all are kept. */
  #after(id: string): readonly Numbered[] | undefined {
    const [, name, digits] = /^([0-9a-f]{12}):([0-9]{1,15})$/.exec(id) ?? []
    const number = Number(digits)
    const first = this.#kept[0]?.number ?? this.#last + 1
    if (name !== this.#name || number > this.#last || number < first - 1) return undefined
    return this.#kept.slice(number - first + 1)
  }

  #id(number: number): string {
    return `${this.#name}:${number}`
  }
}

const RESET = 'event: reset\ndata: {}\n'
