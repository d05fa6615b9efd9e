import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type CountedWay, countWay } from './count-way.ts'
import type { Place } from './messages.ts'
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
const SETTLED_MS = 3000
/** What a server does at rest comes round within so long. */
const REST_MS = 40_000

/**
 * Sends each of the requests to a server of its own, one after the other, and counts what runs for it. With `ordered`, sends each once more to
 * see in what order its functions are called. `say` is told how far it is.
 */
export async function measureWays(
  say: (sentence: string) => void,
  { ordered }: { readonly ordered: boolean },
): Promise<readonly MeasuredWay[]> {
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
    const client = new Client({ url, key: KEY, folder })
    const sends = []
    for (const way of WAYS) sends.push({ name: way.name, send: await way.prepare(client) })
    const measured = []
    for (const { name, send } of sends) {
      for (let n = 1; n <= SENT_BEFORE; n++) await send(n)
      await wait(SETTLED_MS)
      await server.take()
      await send(SENT_BEFORE + 1)
      await wait(COUNTED_MS)
      measured.push({ name, send, ran: await server.take() })
      say(`${name} is counted`)
    }
    await wait(SETTLED_MS)
    await server.take()
    await wait(REST_MS)
    const atRest = await server.take()
    say('what runs at rest is counted')
    const textOf = texts()
    const ways = []
    for (const { name, send, ran } of measured) {
      const counted = countWay(ran, atRest, textOf)
      ways.push({ name, counted, order: ordered ? await orderOf(server, counted, send) : [] })
    }
    return ways
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
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
