import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a server on which an answer can be lost. */
export interface CuttingProxy {
  readonly url: string
  /**
   * From now on requests whose first line holds `text` reach the server whole, and once it has begun to answer one the connection is cut: nothing
   * of the answer arrives. All of them, since a browser itself asks again. Resolves with the first one.
   */
  loseAnswersOf(text: string): Promise<void>
  /** Answers arrive again. */
  loseNone(): void
  close(): Promise<void>
}

/** Starts a proxy, byte by byte, in front of a server. */
export async function startCuttingProxy(server: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(server)
  const open = new Set<Socket>()
  let lost: { readonly text: string; readonly first: () => void } | undefined
  const proxy = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    let isLost = false
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        open.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (bytes) => {
      const [line = ''] = bytes.toString('latin1').split('\r\n', 1)
      if (/^[A-Z]+ .* HTTP\/1\.1$/.test(line)) isLost = lost !== undefined && line.includes(lost.text)
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      if (!isLost) return void client.write(bytes)
      client.resetAndDestroy()
      lost?.first()
    })
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    loseAnswersOf: (text) => new Promise<void>((first) => (lost = { text, first })),
    loseNone: () => void (lost = undefined),
    close: async () => {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => proxy.close(resolve))
    },
  }
}
