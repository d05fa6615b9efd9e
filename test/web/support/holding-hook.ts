import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A prompt over HTTP that answers the row whose `n` is 1 at once, and every other one once it is released. */
export interface HoldingHook {
  readonly url: string
  /** How often it was asked for a row. */
  calls(n: number): number
  release(): void
  close(): Promise<void>
}

/** Starts it; it answers `n` doubled. */
export async function startHoldingHook(): Promise<HoldingHook> {
  const asked: number[] = []
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const piece of request) text += String(piece)
    const { n } = (JSON.parse(text) as { inputs: { n: number } }).inputs
    asked.push(n)
    if (n !== 1) await released
    response.end(JSON.stringify({ doubled: n * 2 }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: (n) => asked.filter((it) => it === n).length,
    release: () => release(),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
