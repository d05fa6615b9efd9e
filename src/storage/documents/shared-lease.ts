import { setTimeout as pause } from 'node:timers/promises'
import { Refusal } from '../../errors.ts'
import { LOCK_PATIENCE_MS } from '../lock-file.ts'
import type { DocumentTable, HeldLease } from './document-table.ts'

/** So long a lease lasts whose holder says nothing more, in milliseconds. */
export const LEASE_MS = 10_000

/** A lease of this process, which is prolonged until it is dropped. */
export class SharedLease implements HeldLease {
  readonly name: string
  readonly token: string
  readonly #table: DocumentTable
  readonly #milliseconds: number
  readonly #lost = new AbortController()
  /** From when on somebody else may have it, on the clock of `performance`. */
  #until: number
  #timer: NodeJS.Timeout | undefined
  #isAbandoned = false

  /** `asked` is when it was asked for: what the other side counts began later. */
  constructor(table: DocumentTable, { name, token }: HeldLease, asked: number, milliseconds: number) {
    this.#table = table
    this.name = name
    this.token = token
    this.#milliseconds = milliseconds
    this.#until = asked + milliseconds
    this.#later()
  }

  /** Aborted when somebody else may have it. */
  get signal(): AbortSignal {
    return this.#lost.signal
  }

  /** It is somebody else's. */
  lose(): void {
    clearTimeout(this.#timer)
    this.#lost.abort()
  }

  /** Somebody else is to go on when it is dropped. */
  abandon(): void {
    this.#isAbandoned = true
  }

  /** Gives it back. Where that cannot be said, it ends by itself. */
  async drop(): Promise<void> {
    clearTimeout(this.#timer)
    const giveBack = (): Promise<unknown> =>
      this.#isAbandoned ? this.#table.renewLease(this, 0) : this.#table.dropLease(this)
    if (!this.signal.aborted) await giveBack().catch(() => undefined)
    this.#lost.abort()
  }

  #later(): void {
    this.#timer = setTimeout(() => void this.#prolong(), this.#milliseconds / 4).unref()
  }

  async #prolong(): Promise<void> {
    const asked = performance.now()
    // No answer may come for a long time.
    const end = setTimeout(() => this.lose(), Math.max(0, this.#until - asked)).unref()
    const isOurs = await this.#table.renewLease(this, this.#milliseconds).catch(() => undefined)
    clearTimeout(end)
    if (this.signal.aborted) return
    if (isOurs) this.#until = asked + this.#milliseconds
    // Where nothing could be asked, it is ours until its time is over.
    if (isOurs === false || performance.now() >= this.#until) this.lose()
    else this.#later()
  }
}

/** Takes a lease; undefined where somebody has it. */
export async function takeLease(
  table: DocumentTable,
  name: string,
  milliseconds: number,
  note?: string,
): Promise<SharedLease | undefined> {
  const asked = performance.now()
  const token = await table.takeLease(name, milliseconds, note)
  return token === undefined ? undefined : new SharedLease(table, { name, token }, asked, milliseconds)
}

/** Takes a lease once nobody has it. Refuses with `locked` if somebody keeps it too long. */
export async function awaitLease(
  table: DocumentTable,
  name: string,
  milliseconds: number,
  note?: string,
): Promise<SharedLease> {
  const deadline = performance.now() + LOCK_PATIENCE_MS
  for (let wait = 4; ; wait = Math.min(wait * 2, 200)) {
    const lease = await takeLease(table, name, milliseconds, note)
    if (lease) return lease
    if (performance.now() > deadline)
      throw new Refusal('locked', `"${name}" is held by another server. Try again in a moment.`)
    await pause(wait * (0.5 + Math.random()))
  }
}
