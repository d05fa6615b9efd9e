import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { type MonitoredServer, startMonitored } from '../../../bench/bench-servers.ts'
import { at, placesIn } from '../../../bench/turns/hostile-bodies.ts'
import { isTwin, operationsOf } from '../../../bench/turns/operations-of.ts'
import { exampleAbout, plainRequest } from '../../../bench/turns/plain-request.ts'
import { makeSubjects, type Subject, subjectOf, SURFACES } from '../../../bench/turns/subjects.ts'
import { TurnClient, type TurnAnswer, type TurnRequest } from '../../../bench/turns/turn-client.ts'
import {
  type ApiDocument,
  type Operation,
  readApiDocument,
} from '../../../../test/support/clients/api-document.ts'
import { carriersTo } from '../carriers.ts'
import { arbitrarySize } from '../arbitrary/arbitrary-size.ts'

export interface SizeFuzz {
  readonly requests: number
  readonly seed: number
  /** Called now and then with how many requests are done. */
  readonly onProgress?: (done: number) => void
}

/** What came of it. */
export interface SizeFinding {
  /** How often each status was answered. */
  readonly outcomes: ReadonlyMap<number, number>
  /** One for each way in which a route failed, with what did it first. */
  readonly problems: readonly string[]
}

/** Largest body that is sent. */
const MOST_BYTES = 1024 * 1024
/** Longer than this, in milliseconds of processor time, no request may keep others waiting. */
const LONGEST = 500
/** Nor may the server ever hold so many bytes. */
const MOST_MEMORY = 768 * 1024 * 1024

/**
 * Requests that are as large as they may be, made of small parts in every order: at each place of each body that the document leaves to
 * the client, and what was stored of them read in every way. Finds answers of 5xx or none, pieces of work that keep others
 * waiting, measured in the server's own processor time, and memory that grows.
 */
export async function fuzzSizes({ requests, seed, onProgress }: SizeFuzz): Promise<SizeFinding> {
  const folder = mkdtempSync(join(tmpdir(), 'branchpoint-fuzz-'))
  const server = await startMonitored(join(folder, 'store'), {
    MAX_BODY_BYTES: String(MOST_BYTES),
    SANDBOX_TIMEOUT_MS: '500',
    LOG_LEVEL: 'info',
  })
  try {
    const fuzz = new Fuzz(server, await readApiDocument(server.url))
    await fuzz.begin()
    for (let done = 0; done < requests; done++) {
      await fuzz.send(seed + done)
      if (done % 100 === 99) onProgress?.(done + 1)
    }
    return fuzz
  } finally {
    await server.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

class Fuzz implements SizeFinding {
  readonly outcomes = new Map<number, number>()
  readonly #found = new Map<string, string>()
  readonly #server: MonitoredServer
  readonly #client: TurnClient
  readonly #document: ApiDocument
  readonly #operations: readonly Operation[]
  #subjects: ReadonlyMap<string, Subject> = new Map()

  constructor(server: MonitoredServer, document: ApiDocument) {
    this.#server = server
    this.#client = new TurnClient(server)
    this.#document = document
    this.#operations = document.operations.filter((it) => it.body && !it.isUpload && !isTwin(it.name))
  }

  get problems(): readonly string[] {
    return [...this.#found.values()]
  }

  async begin(): Promise<void> {
    this.#subjects = await makeSubjects(this.#client)
  }

  async send(seed: number): Promise<void> {
    const choice = fc.record({
      operation: fc.constantFrom(...this.#operations),
      place: fc.nat(),
      carrier: fc.nat(),
      size: arbitrarySize,
      bytes: fc.constantFrom(20_000, 200_000, MOST_BYTES),
      reads: fc.array(fc.nat(), { minLength: 3, maxLength: 3 }),
    })
    const [chosen] = fc.sample(choice, { numRuns: 1, seed })
    if (!chosen) return
    const { operation, place, carrier, size, bytes, reads } = chosen
    const { method, path } = operation
    const surface = /^(?:\/simple)?\/(\w+)/.exec(path)?.[1] ?? ''
    const subject = this.#subjects.get(surface) ?? this.#subjects.get('workflows')
    if (!subject) throw new Error('there is no workflow')
    const example = exampleAbout(operation, surface, subject)
    const places = placesIn(operation, surface, this.#document.schemas, example)
    const payloads = places.filter(({ path: keys }) => /^(data|delta)$/.test(keys.at(-1) ?? ''))
    // As often where most is done with it.
    const among = place % 2 === 0 && payloads.length > 0 ? payloads : places
    const chosenPlace = among[(place >> 1) % Math.max(1, among.length)] ?? { path: ['unknown'], schema: {} }
    const carriers = carriersTo(chosenPlace, surface)
    const carry = carriers[carrier % carriers.length]
    const keys = chosenPlace.path
    const shape = `${keys.join('.')} of ${size.name}, ${bytes} bytes, seed ${seed}`
    const body = at(example, keys, carry ? carry(size.make) : size.make)(bytes)
    const plain = plainRequest(operation, surface, subject, shape)
    const answer = await this.#ask({ method, route: path, path: plain.path, shape, body })
    await this.#readBack(answer, shape, reads)
  }

  /** What was stored is asked for in a few ways, and put away. */
  async #readBack(answer: TurnAnswer, shape: string, reads: readonly number[]): Promise<void> {
    for (const surface of SURFACES) {
      const made = subjectOf(answer, surface)
      if (!made) continue
      const ways = operationsOf(this.#document, surface).filter(({ path }) => !/archive$/.test(path))
      for (const read of reads) {
        const way = ways[read % ways.length]
        if (way) await this.#ask(plainRequest(way, surface, made, `stored: ${shape}`))
      }
      const path = `/simple/${surface}/${made.id}/archive`
      await this.#client.send({ method: 'POST', route: path, path, shape: 'archive' })
    }
  }

  async #ask(asked: TurnRequest): Promise<TurnAnswer> {
    const { answer, turns } = await this.#server.measured(() => this.#client.send(asked))
    this.outcomes.set(answer.status, (this.outcomes.get(answer.status) ?? 0) + 1)
    const route = `${asked.method} ${asked.route}`
    const found = (what: string, how: string): void => {
      if (!this.#found.has(`${route} ${what}`))
        this.#found.set(`${route} ${what}`, `${route}: ${how}\n  ${asked.shape}`)
    }
    if (answer.status === 0 || answer.status >= 500)
      found('status', `answered ${answer.status}: ${answer.text.slice(0, 300)}`)
    if (turns.longest > LONGEST) found('turns', `kept others waiting for ${Math.round(turns.longest)} ms`)
    if (turns.peak > MOST_MEMORY) found('memory', `took ${Math.round(turns.peak / 1024 / 1024)} MB`)
    return answer
  }
}
