import { del, get, set } from 'idb-keyval'
import { useRef } from 'react'
import { type Answer, type Ask, type Route, Unreachable } from '../../api/call.ts'
import { useWrite } from '../../api/use-route.ts'
import { unfinishedKept } from './drafts-kept.ts'

/** A write that is done once, even if its answer is lost. */
export interface SureWrite<R extends Route> {
  /**
   * Sends a write. If an earlier one had no answer, that one is sent again first, with its key. Its answer counts for the same write; another
   * write is sent after it.
   */
  readonly send: (ask: Ask<R>) => Promise<Answer<R>>
  /** The answer of the write whose answer was lost, if it is `wanted`; undefined if there is none, or it is refused now. */
  readonly recall: (wanted?: (ask: Ask<R>) => boolean) => Promise<Answer<R> | undefined>
}

/** Sends writes with an idempotency key (interface 2.25). With a `name`, a request without an answer survives a reload of the page. */
export function useSureWrite<R extends Route>(route: R, name?: string): SureWrite<R> {
  const { mutateAsync } = useWrite(route)
  const unanswered = useRef<Ask<R> | undefined>(undefined)
  const key = name === undefined ? undefined : `${name} ${route}`

  async function keep(ask: Ask<R> | undefined): Promise<void> {
    unanswered.current = ask
    if (key === undefined) return
    // A browser that cannot store it asks again as long as the page is open.
    await (ask ? set(key, ask, unfinishedKept) : del(key, unfinishedKept)).catch(() => undefined)
  }
  async function ask(it: Ask<R>): Promise<Answer<R>> {
    await keep(it)
    try {
      const answer = await mutateAsync(it)
      await keep(undefined)
      return answer
    } catch (error) {
      if (!(error instanceof Unreachable)) await keep(undefined)
      throw error
    }
  }
  async function unansweredBefore(): Promise<Ask<R> | undefined> {
    if (unanswered.current || key === undefined) return unanswered.current
    return get<Ask<R>>(key, unfinishedKept).catch(() => undefined)
  }
  async function recall(wanted?: (ask: Ask<R>) => boolean): Promise<Answer<R> | undefined> {
    const before = await unansweredBefore()
    if (!before || wanted?.(before) === false) return undefined
    try {
      return await ask(before)
    } catch (error) {
      if (error instanceof Unreachable) throw error
      return undefined
    }
  }
  async function send(it: Ask<R>): Promise<Answer<R>> {
    const before = await unansweredBefore()
    const answer = await recall()
    if (answer !== undefined && before && textOf(before) === textOf(it)) return answer
    return ask({ ...it, idempotencyKey: freshKey() })
  }
  return { recall, send }
}

/** A request without its key. */
function textOf(ask: object): string {
  return JSON.stringify({ ...ask, idempotencyKey: undefined })
}

/** `crypto.randomUUID` is missing over http to another machine. */
function freshKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((it) => it.toString(16).padStart(2, '0'))
    .join('')
}
