import { KEY } from '../../../test/support/servers/child-server.ts'

/**
 * Sends a request and answers its body, of the shape the caller knows from the interface. Throws when the service refuses
 * it, with the whole refusal, or cannot be reached. `key` is sent as its Idempotency-Key.
 */
export async function ask<T>(
  url: string,
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  body?: unknown,
  key?: string,
): Promise<T> {
  const answer = await fetch(url + path, {
    method,
    headers: {
      authorization: `ApiKey ${KEY}`,
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
  // The shape is the interface's; a difference shows as a failed proof.
  return JSON.parse(text) as T
}
