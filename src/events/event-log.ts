import { randomBytes } from 'node:crypto'
import { stringifyJson } from '../json/stringify-json.ts'
import type { LiveEvent } from './live-event.ts'

/** So many events, and so many characters of them, are kept for those who come back. */
const MOST_EVENTS = 1000
const MOST_LENGTH = 256 * 1024

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
    while (this.#kept.length > MOST_EVENTS || this.#length > MOST_LENGTH)
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
