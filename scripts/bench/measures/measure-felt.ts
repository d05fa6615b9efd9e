import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { BenchSetting } from '../bench-setting.ts'
import { postText } from '../call.ts'
import { type ChildServer, startBranchpoint } from '../../../test/support/servers/child-server.ts'
import { feltFigures, type FeltSetting, feltTable } from '../felt/felt-figures.ts'
import { type FeltOrder, feltPrompt, type FeltTimes } from '../felt/felt-load.ts'
import { create, type Neighbours, rowNeighbours, textNeighbours } from '../felt/felt-neighbours.ts'
import { progress } from '../progress.ts'

const CLIENTS = 32
const PROMPTS = 40

const SIZES = { uploadedRows: 100_000, readRows: 20_000, textBytes: 100_000, searched: 20, revisions: 200 }

/**
 * What 32 clients of mixed work feel: alone, beside rows that go up and down, and beside work on texts. The server, the clients and what
 * goes on beside them are processes of their own.
 */
export async function measureFelt(
  { folder, feltSeconds: seconds, add }: Pick<BenchSetting, 'folder' | 'feltSeconds' | 'add'>,
  sizes = SIZES,
): Promise<void> {
  const server = await startBranchpoint(join(folder, 'felt'))
  const load = fork(fileURLToPath(new URL('../felt/felt-load.js', import.meta.url)))
  try {
    progress('felt: prompts, variants and rows')
    for (let number = 0; number < PROMPTS; number++) {
      await create(server, `felt-${number}`, feltPrompt(number))
      const deployment = {
        application_variant_ref: { slug: `felt-${number}` },
        environment_ref: { slug: 'production' },
      }
      await postText(server, '/applications/revisions/deploy', JSON.stringify(deployment))
    }
    const rows = await rowNeighbours(server, folder, sizes)
    const texts = await textNeighbours(server, sizes)
    const bench = { server, load, order: { url: server.url, clients: CLIENTS, seconds, prompts: PROMPTS } }
    progress('felt: warming up')
    for (const work of [...Object.values(rows), ...Object.values(texts)]) await work()
    await ordered(load, { ...bench.order, seconds: Math.min(5, seconds) })
    const alone = await feel(bench, 'nothing', {})
    const beside = [
      await feel(
        bench,
        `an upload of ${sizes.uploadedRows} rows, clones and downloads of ${sizes.readRows}`,
        rows,
      ),
      await feel(bench, `a merge, a compare, a search and a log of texts of ${sizes.textBytes} bytes`, texts),
    ]
    progress('')
    process.stdout.write(`${feltTable({ ...alone, name: 'alone' }, beside)}\n`)
    for (const figure of feltFigures(alone, beside)) add(figure)
  } finally {
    load.kill()
  }
  await server.stop()
}

interface FeltBench {
  readonly server: ChildServer
  readonly load: ChildProcess
  readonly order: FeltOrder
}

/** What the clients feel while the neighbours do their work again and again. */
async function feel(
  { server, load, order }: FeltBench,
  name: string,
  neighbours: Neighbours,
): Promise<FeltSetting> {
  progress(`felt: beside ${name}`)
  // What the last one left to the background is not to be in the way of the next.
  await pause(1000)
  const end = new AbortController()
  const done: Record<string, number> = {}
  const others = Object.entries(neighbours).map(async ([work, doIt]) => {
    for (let times = 1; !end.signal.aborted; times++) {
      await doIt()
      done[work] = times
    }
  })
  // Whoever fails early is heard of below, once the load is done.
  for (const other of others) other.catch(() => undefined)
  const silence = longestSilence(server, end.signal)
  const told = await ordered(load, order)
  end.abort()
  await Promise.all(others)
  return { name, ...told, silence: await silence, done }
}

async function ordered(load: ChildProcess, order: FeltOrder): Promise<FeltTimes> {
  const ended = new AbortController()
  const told = once(load, 'message', { signal: ended.signal })
  load.send(order)
  const [times] = await Promise.race([
    told,
    once(load, 'exit', { signal: ended.signal }).then(() => {
      throw new Error('the process of the clients ended while it was measured')
    }),
  ])
  ended.abort()
  return times as FeltTimes // it sends nothing else
}

/** Asks `/health` over one connection, again as soon as it has answered, and answers the longest wait in milliseconds. */
async function longestSilence({ url }: ChildServer, end: AbortSignal): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let longest = 0
  while (!end.aborted) {
    const started = performance.now()
    const [response] = await once(request(`${url}/health`, { agent }).end(), 'response')
    await once(response.resume(), 'end')
    longest = Math.max(longest, performance.now() - started)
    await pause(5)
  }
  agent.destroy()
  return longest
}
