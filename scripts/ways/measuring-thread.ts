import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import { PlacesInText } from './places-in-text.ts'
import type { Ask, Place, RanFunction, Reply } from './messages.ts'

/**
 * The thread beside a program that is measured. It speaks to V8's inspector of the main thread, and through that one to those of the other
 * threads, so nothing of the program has to run for an answer: a thread that waits for work answers like any other.
 */

/** The folder of the repository, as the addresses of modules begin. */
const OURS = new URL('../../../', import.meta.url).href
/** What measures is not measured. */
const MEASURING = new URL('.//', import.meta.url).href

/** A thread of the program, seen through its inspector. */
interface Thread {
  post(method: string, params?: object): Promise<unknown>
  /** The number of each script that it has loaded, by its address; known once `Debugger.enable` was asked. */
  readonly scripts: Map<string, string>
  /** Which places each of its breakpoints stands for. */
  readonly breakpoints: Map<string, readonly Place[]>
}

/** As much as is used here of what an inspector says; https://chromedevtools.github.io/devtools-protocol/v8 has the rest. */
interface Told {
  readonly url?: string
  readonly scriptId?: string
  readonly hitBreakpoints?: readonly string[]
}

interface Coverage {
  readonly url: string
  readonly functions: readonly {
    readonly functionName: string
    readonly ranges: readonly {
      readonly startOffset: number
      readonly endOffset: number
      readonly count: number
    }[]
  }[]
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Told
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

/** The inspector of another thread than the main one, which carries its messages. */
class ThreadInspector {
  readonly thread: Thread
  readonly #sessionId: string
  readonly #waiting = new Map<number, (message: Message) => void>()
  #lastId = 0

  constructor(sessionId: string) {
    this.#sessionId = sessionId
    this.thread = threadOf((method, params) => this.#post(method, params))
  }

  hear(message: Message): void {
    if (message.id === undefined) {
      if (message.method === 'NodeRuntime.waitingForDisconnect') void this.#end()
      else hear(this.thread, message.method ?? '', message.params ?? {})
      return
    }
    this.#waiting.get(message.id)?.(message)
    this.#waiting.delete(message.id)
  }

  #post(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ error, result }) =>
        error ? reject(new Error(error.message)) : resolve(result),
      )
      const message = JSON.stringify({ id, method, params })
      main.post('NodeWorker.sendMessageToWorker', { sessionId: this.#sessionId, message }).catch(reject)
    })
  }

  /** The thread has come to its end, and waits until it is let go. */
  async #end(): Promise<void> {
    ended = ended.concat(await take(this.thread))
    threads.delete(this.thread)
    await main.post('NodeWorker.detach', { sessionId: this.#sessionId })
  }
}

// a session does not keep its thread alive, and the answer to the first question has to come
const alive = setInterval(() => undefined, 60_000)
const main = new Session()
main.connectToMainThread()
const mainThread = threadOf((method, params) => main.post(method, params))
const threads = new Set([mainThread])
/** What ran in threads that have ended since the last time. */
let ended: RanFunction[] = []
/** Programs that cannot be measured, so that the counts would be too low. */
const unmeasured: string[] = []
let order: Place[] = []

for (const method of ['Debugger.scriptParsed', 'Debugger.paused'])
  main.on(method, ({ params }: { readonly params: Told }) => hear(mainThread, method, params))
followThreads()
await count(mainThread)
await main.post('NodeWorker.enable', { waitForDebuggerOnStart: true })

parentPort?.on('message', (program: string) => unmeasured.push(program))
const socket = connect(workerData as string) // measured.ts gave it
await once(socket, 'connect')
clearInterval(alive)
// a measurement that is over leaves the program alone
socket.on('error', () => undefined)
createInterface({ input: socket }).on('line', (line) => void answer(JSON.parse(line) as Ask)) // our own script wrote it
parentPort?.postMessage('counting')

async function answer(ask: Ask): Promise<void> {
  const reply = await work(ask).catch((error: Error): Partial<Reply> => ({ failure: error.message }))
  socket.write(`${JSON.stringify({ ...reply, id: ask.id })}\n`)
}

async function work(ask: Ask): Promise<Partial<Reply>> {
  if (ask.ask === 'watch') return watch(ask.places)
  if (ask.ask === 'firstCalls') return firstCalls()
  const ran = (await Promise.all([...threads].map(take))).flat()
  if (unmeasured.length > 0)
    throw new Error(
      `${unmeasured.splice(0).join(', ')} was started in a process that lets nobody count what runs in it`,
    )
  return { ran: [...ran, ...ended.splice(0)] }
}

async function count(thread: Thread): Promise<void> {
  await Promise.all([
    thread.post('Profiler.enable'),
    thread.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false }),
  ])
}

/** What ran in a thread since the last time: V8 begins to count anew with each answer. */
async function take(thread: Thread): Promise<RanFunction[]> {
  const { result } = (await thread.post('Profiler.takePreciseCoverage')) as { readonly result: Coverage[] }
  return result
    .filter(({ url }) => isOurs(url))
    .flatMap(({ url, functions }) =>
      functions.flatMap(({ functionName, ranges: [whole] }) =>
        whole && whole.count > 0
          ? [{ url, name: functionName, start: whole.startOffset, end: whole.endOffset }]
          : [],
      ),
    )
}

function isOurs(url: string): boolean {
  return url.startsWith(OURS) && !url.includes('/node_modules/') && !url.startsWith(MEASURING)
}

/** Has each thread that starts counted before its first module is loaded, and until it has ended. */
function followThreads(): void {
  const inspectors = new Map<string, ThreadInspector>()
  main.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
    if (workerInfo.url === import.meta.url) return
    const inspector = new ThreadInspector(sessionId)
    inspectors.set(sessionId, inspector)
    threads.add(inspector.thread)
    void count(inspector.thread)
    void inspector.thread.post('NodeRuntime.notifyWhenWaitingForDisconnect', { enabled: true })
    void inspector.thread.post('Runtime.runIfWaitingForDebugger')
  })
  main.on(
    'NodeWorker.receivedMessageFromWorker',
    ({ params: { sessionId, message } }) => inspectors.get(sessionId)?.hear(JSON.parse(message) as Message), // an inspector wrote it
  )
}

function threadOf(post: Thread['post']): Thread {
  return { post, scripts: new Map(), breakpoints: new Map() }
}

/** Stops each thread at the first call of every function that begins at one of the places, for as long as it takes to note it. */
async function watch(places: readonly Place[]): Promise<Partial<Reply>> {
  order = []
  const byUrl = new Map<string, Place[]>()
  for (const place of places) byUrl.set(place.url, [...(byUrl.get(place.url) ?? []), place])
  for (const thread of threads) {
    await thread.post('Debugger.enable')
    for (const [url, inScript] of byUrl) await stopAt(thread, url, inScript)
  }
  return {}
}

async function stopAt(thread: Thread, url: string, places: readonly Place[]): Promise<void> {
  const scriptId = thread.scripts.get(url)
  if (scriptId === undefined) return
  const text = new PlacesInText(readFileSync(fileURLToPath(url), 'utf8'))
  // functions that begin together, as one that is the whole body of another does, share a breakpoint
  const together = new Map<string, Place[]>()
  for (const place of places) {
    const { locations } = (await thread.post('Debugger.getPossibleBreakpoints', {
      start: { scriptId, ...text.at(place.start) },
      end: { scriptId, ...text.at(place.end) },
    })) as { readonly locations: readonly object[] }
    const [first] = locations
    if (!first) continue
    const key = JSON.stringify(first)
    together.set(key, [...(together.get(key) ?? []), place])
  }
  for (const [location, those] of together) {
    const { breakpointId } = (await thread.post('Debugger.setBreakpoint', {
      location: JSON.parse(location) as object,
    })) as { readonly breakpointId: string }
    thread.breakpoints.set(breakpointId, those)
  }
}

function hear(thread: Thread, method: string, { url, scriptId, hitBreakpoints = [] }: Told): void {
  if (method === 'Debugger.scriptParsed') thread.scripts.set(url ?? '', scriptId ?? '')
  if (method !== 'Debugger.paused') return
  for (const breakpointId of hitBreakpoints) {
    order = order.concat(thread.breakpoints.get(breakpointId) ?? [])
    thread.breakpoints.delete(breakpointId)
    void thread.post('Debugger.removeBreakpoint', { breakpointId })
  }
  void thread.post('Debugger.resume')
}

async function firstCalls(): Promise<Partial<Reply>> {
  for (const thread of threads) {
    await thread.post('Debugger.disable')
    thread.breakpoints.clear()
    thread.scripts.clear()
  }
  return { order: order.splice(0) }
}
