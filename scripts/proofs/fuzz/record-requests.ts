import { connect, createServer, type AddressInfo } from 'node:net'

/**
 * Listens between a client and a server while `use` runs with its address, and answers every request that the client sent, byte by byte,
 * in order.
 */
export async function recordRequests(
  url: string,
  use: (address: string) => Promise<unknown>,
): Promise<Buffer[]> {
  const connections: Buffer[][] = []
  const between = createServer((client) => {
    const sent: Buffer[] = []
    connections.push(sent)
    const server = connect(Number(new URL(url).port), '127.0.0.1')
    client.on('data', (bytes) => sent.push(bytes))
    client.pipe(server).pipe(client)
    for (const socket of [client, server]) socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve))
  try {
    await use(`http://127.0.0.1:${(between.address() as AddressInfo).port}`) // of TCP it is always this
  } finally {
    between.close()
  }
  return connections.flatMap((sent) => requestsIn(Buffer.concat(sent)))
}

function requestsIn(bytes: Buffer): Buffer[] {
  const requests: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const body = bytes.indexOf('\r\n\r\n', at) + 4
    const head = bytes.toString('latin1', at, body)
    const isChunked = /^transfer-encoding: *chunked/im.test(head)
    const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
    const end = isChunked ? bytes.indexOf('\r\n0\r\n\r\n', body - 2) + 7 : body + length
    requests.push(bytes.subarray(at, end))
    at = end
  }
  return requests
}
