import type { z } from 'zod'
import { type ChildServer, KEY } from '../../test/support/servers/child-server.ts'

/** Posts a JSON text with the benchmarks' key and answers what comes back. Throws if it is refused. */
export async function postText(server: ChildServer, path: string, body: string): Promise<string> {
  return (await answered(server, path, body)).text()
}

/** Posts likewise, and answers the head of what comes back: the names and values that node does not set of itself. */
export async function postForHead(
  server: ChildServer,
  path: string,
  body: string,
): Promise<Readonly<Record<string, string>>> {
  const { headers } = await answered(server, path, body)
  return Object.fromEntries([...headers].filter(([name]) => !OF_NODE.includes(name)))
}

const OF_NODE = ['connection', 'content-length', 'date', 'keep-alive']

async function answered(server: ChildServer, path: string, body: string): Promise<Response> {
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: `ApiKey ${KEY}`, 'content-type': 'application/json' },
    body,
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response
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
