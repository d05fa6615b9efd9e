import fc from 'fast-check'
import { AnswerCheck } from '../answer-check.ts'
import { readApiDocument } from '../../../../test/support/clients/api-document.ts'
import type { FuzzedRequest } from '../arbitrary/arbitrary-request.ts'
import { arbitraryRequest } from '../arbitrary/arbitrary-request.ts'
import type { FuzzedService } from '../fuzzed-service.ts'
import { startFuzzedService } from '../fuzzed-service.ts'
import { KnownThings } from '../known-things.ts'
import { seedStore } from '../seed-store.ts'

export interface RequestFuzz {
  readonly requests: number
  readonly seed: number
  /** Called now and then with how many requests are done. */
  readonly onProgress?: (done: number) => void
}

/** What came of it. */
export interface FuzzFinding {
  /** How often each status was answered. */
  readonly outcomes: ReadonlyMap<number, number>
  /** All that there are. */
  readonly operations: readonly string[]
  /** Those that were never answered with success, each with how it was refused, most often first. */
  readonly neverSucceeded: readonly string[]
  /** One for each way in which an operation failed, with the first request that did it. */
  readonly problems: readonly string[]
}

/** The number of requests under way at once; each request has as many seeds. */
export const AT_ONCE = 8
/** No request of these may take longer, in milliseconds. */
const PATIENCE = 30_000

/**
 * Sends random requests of every operation in the OpenAPI document and judges each answer by the document: no 500, success only for
 * those who may, bodies as their schemas say.
 */
export async function fuzzRequests({ requests, seed, onProgress }: RequestFuzz): Promise<FuzzFinding> {
  const service = await startFuzzedService(undefined, ['read', 'write', 'deploy', 'invoke'])
  const problems = new Map<string, string>()
  const outcomes = new Map<number, number>()
  const succeeded = new Set<string>()
  const refusals = new Map<string, Map<string, number>>()
  const onCrash = (error: unknown): void =>
    void problems.set(
      `crash ${String(error)}`,
      `not caught: ${error instanceof Error ? error.stack : String(error)}`,
    )
  process.on('uncaughtException', onCrash).on('unhandledRejection', onCrash)
  try {
    const document = await readApiDocument(service.url)
    const check = new AnswerCheck(document)
    const known = new KnownThings()
    await seedStore(service, (answer) => known.learn(answer))
    const requestOf = arbitraryRequest(document, known)
    let done = 0
    const work = async (worker: number): Promise<void> => {
      while (done < requests) {
        // Few at a time: what they answer is what the next ones ask for.
        const batch = fc.sample(requestOf, { numRuns: 10, seed: seed + done * AT_ONCE + worker })
        for (const request of batch) {
          done++
          if (done % 1000 === 0) onProgress?.(done)
          const { status, code, problem } = await judge(service, request, check, known)
          count(outcomes, status)
          const { name } = request.operation
          if (status === 200) succeeded.add(name)
          else count(refusals.get(name) ?? refusals.set(name, new Map()).get(name), code)
          if (problem === undefined) continue
          const key = `${request.operation.name}: ${problem.replaceAll(/[0-9a-f-]{12,}|\d+/g, '…')}`
          if (!problems.has(key))
            problems.set(key, `${problem}\n  ${shown(request)}\n  ${service.takeErrors().join('  ')}`)
        }
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, (_, worker) => work(worker)))
    const operations = document.operations.map(({ name }) => name)
    return {
      outcomes,
      operations,
      neverSucceeded: operations
        .filter((name) => !succeeded.has(name))
        .map((name) => `${name} (${told(refusals.get(name))})`),
      problems: [...problems.values()],
    }
  } finally {
    await service.stop()
    process.off('uncaughtException', onCrash).off('unhandledRejection', onCrash)
  }
}

async function judge(
  { url, keys }: FuzzedService,
  request: FuzzedRequest,
  check: AnswerCheck,
  known: KnownThings,
): Promise<{ readonly status: number; readonly code: string; readonly problem: string | undefined }> {
  const { operation, caller, address, headers, body } = request
  const authorization = keys[caller]
  try {
    const answer = await fetch(url + address, {
      method: operation.method,
      headers: { ...headers, ...(authorization === undefined ? {} : { authorization }) },
      body: body instanceof Buffer ? new Uint8Array(body) : (body ?? null),
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE),
    })
    const text = operation.isEndless && answer.ok ? await beginningOf(answer) : await answer.text()
    const type = answer.headers.get('content-type') ?? ''
    known.learnTag(answer.headers.get('etag'))
    if (answer.status === 200 && type.startsWith('application/json')) known.learn(JSON.parse(text))
    const problem = check.problemOf(request, { status: answer.status, type, text })
    const code = /"code":"(\w+)"/.exec(text)?.[1] ?? String(answer.status)
    return {
      status: answer.status,
      code,
      problem: problem && `${operation.name}: ${problem}\n  ${text.slice(0, 600)}`,
    }
  } catch (error) {
    const { cause } = error as Error
    return {
      status: 0,
      code: 'none',
      problem: `${operation.name}: no answer: ${String(error)} ${String(cause ?? '')}`,
    }
  }
}

/** What comes first of an answer that has no end. */
async function beginningOf({ body }: Response): Promise<string> {
  const reader = body?.getReader()
  const first = await reader?.read()
  await reader?.cancel()
  return Buffer.from(first?.value ?? []).toString()
}

function count<K>(counts: Map<K, number> | undefined, key: K): void {
  counts?.set(key, (counts.get(key) ?? 0) + 1)
}

function told(counts: ReadonlyMap<string, number> = new Map()): string {
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 3)
    .map((it) => it.join(' '))
    .join(', ')
}

function shown({ operation, caller, address, headers, body }: FuzzedRequest): string {
  const sent = body instanceof FormData ? [...body.entries()].map(String).join('&') : (body?.toString() ?? '')
  return `${operation.method} ${address} as ${caller} ${JSON.stringify(headers)} ${sent.slice(0, 3000)}`
}
