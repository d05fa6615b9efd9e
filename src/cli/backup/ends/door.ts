import { z } from 'zod'
import { Refusal } from '../../../errors.ts'
import { unreachable } from '../unreachable.ts'

/** A server's address and the key to call it with. */
export interface Door {
  /** The address, without a slash at the end. */
  readonly base: string
  readonly headers: { readonly authorization: string }
  readonly signal: AbortSignal
}

/** Refuses an address that is not http or https. */
export function doorTo(url: string, key: string, signal: AbortSignal): Door {
  const base = url.replace(/\/+$/, '')
  if (!/^https?:\/\//.test(base) || !URL.canParse(base)) {
    throw new Refusal('invalid_request', `--url: "${url}" is not an http or https address.`)
  }
  return { base, headers: { authorization: `ApiKey ${key}` }, signal }
}

/** Sends a request and returns the parsed JSON of the answer. If the server refuses it, throws a Refusal with the server's message. */
export async function ask(
  door: Door,
  method: string,
  path: string,
  body?: string | ReadableStream,
): Promise<unknown> {
  const headers = {
    ...door.headers,
    'content-type': typeof body === 'string' ? 'application/json' : 'application/x-git-bundle',
  }
  const request = {
    method,
    headers,
    signal: door.signal,
    ...(body === undefined ? {} : { body, duplex: 'half' }),
  }
  const response = await fetch(door.base + path, request as RequestInit).catch((error: unknown) => {
    throw door.signal.aborted ? error : unreachable(door.base, error)
  })
  const answer: unknown = await response.json().catch(() => undefined)
  if (response.ok) return answer
  const problem = z.object({ detail: z.string() }).safeParse(answer)
  const why = problem.success ? problem.data.detail : `It answered ${response.status}.`
  throw new Refusal('storage_unavailable', `${door.base}${path}: ${why}`)
}
