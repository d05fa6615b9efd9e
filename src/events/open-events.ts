import { Refusal } from '../errors.ts'
import type { ProjectEvaluations } from '../evaluations/project-evaluations.ts'
import { Semaphore } from '../scheduling/semaphore.ts'
import type { Registry } from '../versioning/registry.ts'
import { ChangeTeller } from './change-teller.ts'
import { evaluationEvent, type LiveEvent } from './live-event.ts'
import { randomBytes } from 'node:crypto'
import { stringifyJson } from '../json/stringify-json.ts'

/** Tells those who follow what happens in the projects that a process serves. */
export class OpenEvents {
  readonly #evaluationsOf: (registry: Registry) => ProjectEvaluations
  readonly #projects = new Map<Registry, ProjectEvents>()
  readonly #permits: Semaphore
  /** How many follow a project, and how many with one key. */
  readonly #followersOf = new Map<Registry | string, number>()
  #isClosed = false

  /** `most` may follow at a time. */
  constructor(evaluationsOf: (registry: Registry) => ProjectEvaluations, most: number) {
    this.#evaluationsOf = evaluationsOf
    this.#permits = new Semaphore(most)
  }

  /** How many follow. */
  get followers(): number {
    return this.#permits.load.running
  }

  /**
   * The text of server-sent events, until it is closed. Refuses with `overloaded` one more than may follow, and with `too_many_connections`
   * one more of a project than half of that, or of the key with this id than a quarter: no client takes all of them.
   */
  async *follow(registry: Registry, keyId: string, following: Following): AsyncGenerator<string> {
    const { capacity } = this.#permits
    this.#assertRoom(keyId, Math.ceil(capacity / 4), 'key')
    this.#assertRoom(registry, Math.ceil(capacity / 2), 'project')
    const release = this.#isClosed ? undefined : this.#permits.tryAcquire()
    if (!release) throw this.#refusal()
    for (const owner of [keyId, registry]) this.#count(owner, 1)
    try {
      yield* this.#of(registry).follow(following)
    } finally {
      for (const owner of [keyId, registry]) this.#count(owner, -1)
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

/** How often it is looked for what other servers did, and for evaluations, in milliseconds. */
const LOOK_EVERY = 500
/** How often a follower that nothing happens for is told that the connection is alive, in milliseconds (interface 13.8). */
const REMIND_EVERY = 15_000
/** How long what happens is kept after the last follower has gone: it may be about to come back. */
const LINGER_MS = 60_000

const REMINDER = ': still here\n\n'

/** How somebody follows a project. */
interface Following {
  /** The id of the last event that it has, where it followed before. */
  readonly lastId: string | undefined
  /** Whether it may still be told. */
  readonly isStillIn: () => boolean
  /** Comes when it has left. */
  readonly gone: AbortSignal
}

/**
 * Tells those who follow a project what happens in it. While nobody does, and a minute after the last one has gone, nothing is noted, and
 * nothing costs anything.
 */
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
   * What happens from now on, as the text of server-sent events, with what was missed since the event of `lastId`. Ends when whoever follows may
   * not be told any more, does not read, or leaves.
   */
  async *follow({ lastId, isStillIn, gone }: Following): AsyncGenerator<string> {
    clearTimeout(this.#lingering)
    const log = (this.#log ??= this.#begin())
    const follower = new Follower(isStillIn)
    follower.push(log.greeting(lastId))
    this.#followers.add(follower)
    // Whoever waits for the next piece hears of nothing else.
    gone.addEventListener('abort', () => follower.end(), { once: true })
    if (gone.aborted) follower.end()
    try {
      yield* follower.pieces()
    } finally {
      this.#followers.delete(follower)
      if (this.#followers.size === 0) this.#lingering = setTimeout(() => this.#end(), LINGER_MS).unref()
    }
  }

  /** Ends everybody's connection. */
  close(): void {
    for (const follower of this.#followers) follower.end()
    clearTimeout(this.#lingering)
    this.#end()
  }

  #begin(): EventLog {
    const log = new EventLog()
    const send = (text: string): void => this.#followers.forEach((it) => it.push(text))
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
        // The disk fails, and fails the requests that need it too: they say so, and the next look tries again.
      } finally {
        isLooking = false
      }
    }
    void look()
    const looking = setInterval(() => void look(), LOOK_EVERY).unref()
    const reminding = setInterval(
      () => this.#followers.forEach((it) => it.remind(REMINDER)),
      REMIND_EVERY,
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

/** Twice what a follower who comes back is sent at once. One for whom more waits does not read fast enough, and is cut off. */
const MAX_CHARACTERS_WAITING = 512 * 1024

/** One who follows a project's events: what is pushed here it gets in this order, as fast as it reads. */
export class Follower {
  readonly #isStillIn: () => boolean
  #waiting: string[] = []
  #length = 0
  #isOver = false
  #wake: (() => void) | undefined

  /** `isStillIn` says whether whoever follows may still be told, and is asked before each piece. */
  constructor(isStillIn: () => boolean) {
    this.#isStillIn = isStillIn
  }

  push(text: string): void {
    if (this.#isOver) return
    this.#waiting.push(text)
    this.#length += text.length
    if (this.#length > MAX_CHARACTERS_WAITING) this.end()
    else this.#wake?.()
  }

  /** Says that the connection is alive, to who has nothing waiting; ends who may not be told any more. */
  remind(text: string): void {
    if (!this.#isStillIn()) this.end()
    else if (this.#waiting.length === 0) this.push(text)
  }

  /** Nothing is told any more, what waits included. */
  end(): void {
    this.#isOver = true
    this.#waiting = []
    this.#wake?.()
  }

  /** What is pushed, in pieces, until the end. */
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

/** A folder that was changed so few milliseconds ago may be changed again without its time telling. */
const SAME_TIME = 100

/**
 * Sees evaluations of a project begin and end, whichever server runs them: each has a log in their folder, and a lease while it runs.
 * One that is resumed and over between two looks is seen by its log, which is newer than the last look.
 */
class RunningEvaluations {
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

/** For those who come back. */
const MAX_EVENTS_KEPT = 1000
const MAX_CHARACTERS_KEPT = 256 * 1024

/** An event as it is sent, and its number. */
interface Numbered {
  readonly number: number
  readonly text: string
}

/**
 * The last events, each as the text that is sent (server-sent events, WHATWG HTML 9.2) with its id, `<name of this log>:<number>`: who comes back
 * with the id of the last one that it has gets those after it.
 */
export class EventLog {
  /** Tells this log from any other, of another server or of the same one later. */
  readonly #name = randomBytes(6).toString('hex')
  readonly #kept: Numbered[] = []
  #length = 0
  #last = 0

  /** Adds an event and answers its text. */
  add({ kind, data }: LiveEvent): string {
    return this.#add(`event: ${kind}\ndata: ${stringifyJson(data)}\n`)
  }

  /** Forgets what is kept, since not all that happened could be told, and answers what says so. */
  addReset(): string {
    this.#kept.length = 0
    this.#length = 0
    return this.#add(RESET)
  }

  /** What somebody is sent first: where it is from now on, with what it missed, or that it has to ask for everything again. */
  greeting(lastId: string | undefined): string {
    if (lastId === undefined) return this.#here()
    const missed = this.#after(lastId)
    return missed
      ? `${this.#here(lastId)}${missed.map(({ text }) => text).join('')}`
      : `${RESET}${this.#here()}`
  }

  /** No event, but the id of the last one. */
  #here(id = this.#id(this.#last)): string {
    return `id: ${id}\n\n`
  }

  #add(text: string): string {
    const number = ++this.#last
    const whole = `id: ${this.#id(number)}\n${text}\n`
    this.#kept.push({ number, text: whole })
    this.#length += whole.length
    while (this.#kept.length > MAX_EVENTS_KEPT || this.#length > MAX_CHARACTERS_KEPT)
      this.#length -= this.#kept.shift()?.text.length ?? 0
    return whole
  }

  /** The events after the one of this id; undefined where that is none of this log, or not all of them are kept. */
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
