import { rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CannotStart } from '../../src/errors.ts'
import type { Order } from './cluster-options.ts'

/** Where the cluster of this user takes orders. */
const SOCKET = join(tmpdir(), `branchpoint-cluster-${process.getuid?.() ?? 0}.sock`)

/** Takes orders from other terminals of this user, each answered with a sentence. Refuses where a cluster runs already. */
export async function serveControl(obey: (order: Order) => Promise<string>): Promise<Server> {
  if (await isServed()) throw new CannotStart('A cluster runs on this machine already. End that one first.')
  rmSync(SOCKET, { force: true }) // what one that was killed left
  const server = createServer((socket) => void answer(socket, obey))
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(SOCKET, resolve))
  return server
}

async function answer(socket: Socket, obey: (order: Order) => Promise<string>): Promise<void> {
  try {
    for await (const line of socket) {
      // Written by `ask`, below.
      socket.end(await obey(JSON.parse(String(line)) as Order).catch((error: unknown) => String(error)))
      return
    }
  } catch {
    // Whoever asked has gone.
  }
}

/** What the cluster that runs answers to an order. Refuses where none runs. */
export async function ask(order: Order): Promise<string> {
  const socket = await connected()
  if (!socket) throw new CannotStart('No cluster runs on this machine. Start one:  npm run cluster')
  socket.write(`${JSON.stringify(order)}\n`)
  let answer = ''
  for await (const piece of socket) answer += String(piece)
  return answer
}

async function isServed(): Promise<boolean> {
  const socket = await connected()
  socket?.destroy()
  return socket !== undefined
}

function connected(): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(SOCKET)
    socket.once('connect', () => resolve(socket)).once('error', () => resolve(undefined))
  })
}
