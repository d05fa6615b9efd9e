import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type CountedWay, countWay } from './count-way.ts'
import type { Place, RanFunction } from './messages.ts'
import { type MeasuredProgram, SERVE_MODULES, startMeasured } from './measured-server.ts'
import { Client, SENT_BEFORE, WAYS } from './requests.ts'

/** A way as it was measured. */
export interface MeasuredWay {
  readonly name: string
  readonly counted: CountedWay
  /** Its functions in the order in which they are first called; empty where nobody asked for it. */
  readonly order: readonly Place[]
}

const KEY = 'ways-key'
/** A request is counted until so long after its answer. */
const COUNTED_MS = 6000
/** What earlier requests have left to do is done after so long. */
const SETTLED_MS = 5000
/** Whatever a server does at rest comes round within this time: what it does least often is done once a minute. */
const REST_MS = 62_000

/**
 * Sends each of the requests to a server, one after the other, and counts what runs for it; meanwhile it is counted in another what runs at
 * rest. With `ordered`, sends each once more to see in what order its functions are called. `say` is told how far it is.
 */
export async function measureWays(
  say: (sentence: string) => void,
  { ordered }: { readonly ordered: boolean },
): Promise<readonly MeasuredWay[]> {
  const resting = withServer(async (server, client) => {
    for (const { send } of await prepared(client)) await sendBefore(send)
    return countRest(server)
  })
  // who waits for it learns of a failure
  resting.catch(() => undefined)
  return withServer(async (server, client) => {
    const measured = []
    for (const { name, send } of await prepared(client)) {
      await sendBefore(send)
      await wait(SETTLED_MS)
      await server.take()
      await send(SENT_BEFORE + 1)
      await wait(COUNTED_MS)
      measured.push({ name, send, ran: await server.take() })
      say(`${name} is counted`)
    }
    const atRest = await resting
    say('what runs at rest is counted')
    const textOf = texts()
    const ways = []
    for (const { name, send, ran } of measured) {
      const counted = countWay(ran, atRest, textOf)
      ways.push({ name, counted, order: ordered ? await orderOf(server, counted, send) : [] })
    }
    return ways
  })
}

/** With a server over a store of its own, and with a client of it; both end with the work. */
async function withServer<T>(work: (server: MeasuredProgram, client: Client) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'ways-store-'))
  const server = await startMeasured([SERVE_MODULES], {
    PATH: process.env.PATH,
    HOME: folder,
    PORT: '0',
    STORE_DIR: join(folder, 'store'),
    SVC_API_KEY: KEY,
  })
  try {
    const url = await server.wrote(/"url":"([^"]+)"/)
    return await work(server, new Client({ url, key: KEY, folder }))
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Prepared {
  readonly name: string
  readonly send: (n: number) => Promise<unknown>
}

async function prepared(client: Client): Promise<readonly Prepared[]> {
  const sends = []
  for (const way of WAYS) sends.push({ name: way.name, send: await way.prepare(client) })
  return sends
}

async function sendBefore(send: Prepared['send']): Promise<void> {
  for (let n = 1; n <= SENT_BEFORE; n++) await send(n)
}

async function countRest(server: MeasuredProgram): Promise<readonly RanFunction[]> {
  await wait(COUNTED_MS + SETTLED_MS)
  await server.take()
  await wait(REST_MS)
  return server.take()
}

async function orderOf(
  server: MeasuredProgram,
  { files }: CountedWay,
  send: (n: number) => Promise<unknown>,
): Promise<readonly Place[]> {
  await server.watch(files.flatMap(({ functions }) => functions))
  await send(SENT_BEFORE + 2)
  await wait(COUNTED_MS)
  return server.firstCalls()
}

/** Reads each compiled file once. */
function texts(): (url: string) => string {
  const known = new Map<string, string>()
  return (url) => {
    const text = known.get(url) ?? readFileSync(fileURLToPath(url), 'utf8')
    known.set(url, text)
    return text
  }
}
