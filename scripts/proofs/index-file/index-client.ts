import { KEY } from '../../../test/support/servers/child-server.ts'
import type { Answer } from '../../../test/support/servers/ask.ts'
import { Asker } from '../../../test/support/servers/ask.ts'

const asker = new Asker()

/** Asks a server with the benchmarks' key; rejects where no answer comes. */
export function askServer(url: string, method: string, path: string, body?: object): Promise<Answer> {
  const headers = { authorization: `ApiKey ${KEY}`, 'content-type': 'application/json' }
  return asker.ask(method, url + path, headers, body && JSON.stringify(body))
}

/** The same, answering the body. Throws unless it is a 200. */
export async function answerOf(url: string, method: string, path: string, body?: object) {
  const { status, text } = await askServer(url, method, path, body)
  if (status !== 200) throw new Error(`${method} ${path}: ${status} ${text}`)
  return JSON.parse(text)
}
