import { once } from 'node:events'
import { createReadStream, statSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { type ChildServer, KEY } from '../../test/support/servers/child-server.ts'

/** Uploads a file as a multipart form without holding it; answers what comes back. Throws if it is refused. */
export async function upload(
  server: ChildServer,
  path: string,
  file: string,
  fields: Readonly<Record<string, string>>,
): Promise<string> {
  const boundary = 'the-bench-is-between-these'
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const head =
    `${parts.join('')}--${boundary}\r\n` +
    'Content-Disposition: form-data; name="file"; filename="rows.csv"\r\nContent-Type: text/csv\r\n\r\n'
  const tail = `\r\n--${boundary}--\r\n`
  const sending = request(server.url + path, {
    method: 'POST',
    headers: {
      authorization: `ApiKey ${KEY}`,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': Buffer.byteLength(head) + statSync(file).size + Buffer.byteLength(tail),
    },
  })
  const body = async function* (): AsyncGenerator<string | Buffer> {
    yield head
    yield* createReadStream(file, { highWaterMark: 256 * 1024 })
    yield tail
  }
  const sent = pipeline(body, sending)
  // A server that refuses early stops listening; what it answered says more than the broken pipe.
  sent.catch(() => undefined)
  const answer = await text(await answerTo(path, sending))
  await sent
  return answer
}

/** How long a download took, in milliseconds, and how large it was. */
export interface Download {
  readonly firstByte: number
  readonly whole: number
  readonly bytes: number
}

/** Downloads a file and forgets it. Throws if it is refused. */
export async function download(server: ChildServer, path: string): Promise<Download> {
  const started = performance.now()
  const sending = request(server.url + path, {
    method: 'POST',
    headers: { authorization: `ApiKey ${KEY}` },
  }).end()
  let firstByte: number | undefined
  let bytes = 0
  for await (const chunk of await answerTo(path, sending)) {
    firstByte ??= performance.now() - started
    // a response without an encoding set comes in buffers
    bytes += (chunk as Buffer).length
  }
  const whole = performance.now() - started
  return { firstByte: firstByte ?? whole, whole, bytes }
}

async function answerTo(path: string, sending: ReturnType<typeof request>): Promise<IncomingMessage> {
  // what the event 'response' comes with
  const [response] = (await once(sending, 'response')) as [IncomingMessage]
  if (response.statusCode === 200) return response
  throw new Error(`${path}: ${response.statusCode} ${await text(response)}`)
}
