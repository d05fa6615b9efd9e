import type { z } from 'zod'
import { type ChildServer, KEY } from './child-server.ts'

/** Posts a JSON text with the benchmarks' key and answers what comes back. Throws if it is refused. */
export async function postText(server: ChildServer, path: string, body: string): Promise<string> {
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: `ApiKey ${KEY}`, 'content-type': 'application/json' },
    body,
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
  return text
}

/** The same, reading from the answer what a schema asks for. */
export async function post<T>(
  server: ChildServer,
  path: string,
  body: unknown,
  answer: z.ZodType<T>,
): Promise<T> {
  return answer.parse(JSON.parse(await postText(server, path, JSON.stringify(body))))
}
