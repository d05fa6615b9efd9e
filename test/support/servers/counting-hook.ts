import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** An application over HTTP that counts how often it was asked for each row, by the row's `n`. */
export interface CountingHook {
  readonly url: string
  readonly calls: ReadonlyMap<number, number>
  /** How long it takes for an answer, in milliseconds. */
  delay: number
  /** Resolves once it was called so often. */
  called(times: number): Promise<void>
  close(): Promise<void>
}

/** Starts it; it answers `n` doubled. */
export async function startCountingHook(): Promise<CountingHook> {
  const calls = new Map<number, number>()
  let total = 0
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const piece of request) text += String(piece)
    const { n } = (JSON.parse(text) as { inputs: { n: number } }).inputs
    calls.set(n, (calls.get(n) ?? 0) + 1)
    total++
    await pause(hook.delay, undefined, { ref: false })
    response.end(JSON.stringify({ doubled: n * 2 }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const hook: CountingHook = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    delay: 0,
    called: async (times) => {
      while (total < times) await pause(2)
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return hook
}
