import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { KEY } from '../../../test/support/servers/child-server.ts'
import { promptData } from '../fill-store.ts'
import { seededRandom } from '../../../test/support/values/seeded-random.ts'

/**
 * The load of `measure-felt` in a process of its own, so that what the server is asked beside it takes no time of these clients: each sends
 * one request after the other, of what `MIX` says. The parent sends a `FeltOrder` and gets `FeltTimes` for it, as often as it likes.
 */
export interface FeltOrder {
  readonly url: string
  readonly clients: number
  readonly seconds: number
  /** How many prompts there are: `felt-0` and so on. */
  readonly prompts: number
}

/** What is asked, and out of a hundred requests how often. */
const MIX = { retrieve: 45, environment: 20, commit: 20, deployment: 5, query: 5, run: 5 } as const

export type FeltKind = keyof typeof MIX

/** Milliseconds from each request to the last byte of its answer, and what was answered with another status than 200 or not at all. */
export interface FeltTimes {
  readonly times: Readonly<Record<FeltKind, readonly number[]>>
  readonly refused: readonly string[]
}

/** Does what an order says. Requests that are under way at its end are waited for and count: they are the slow ones. */
export async function runFelt({ url, clients, seconds, prompts }: FeltOrder): Promise<FeltTimes> {
  const kinds = Object.keys(MIX) as FeltKind[] // Object.keys forgets which keys it is given
  const times = Object.fromEntries(kinds.map((kind) => [kind, new Array<number>()])) as Record<
    FeltKind,
    number[]
  >
  const refused: string[] = []
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const ends = performance.now() + 1000 * seconds
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      const random = seededRandom(client)
      // They would begin as one otherwise, and what they wait for would be one another.
      await pause(random.below(200))
      while (performance.now() < ends) {
        const kind = kindAt(kinds, random.below(100))
        const number = random.below(prompts)
        const started = performance.now()
        const problem = await ask(agent, url, ...REQUESTS[kind](number, random.below(1_000_000)))
        times[kind].push(performance.now() - started)
        if (problem !== undefined) refused.push(`${kind}: ${problem}`)
      }
    }),
  )
  agent.destroy()
  return { times, refused }
}

function kindAt(kinds: readonly FeltKind[], draw: number): FeltKind {
  let below = 0
  for (const kind of kinds) if (draw < (below += MIX[kind])) return kind
  return 'retrieve'
}

/** The path and body of a request about a prompt. */
const REQUESTS: Readonly<Record<FeltKind, (number: number, draw: number) => [path: string, body: object]>> = {
  retrieve: (number) => [RETRIEVE, { application_variant_ref: slug(number) }],
  environment: (number) => [
    RETRIEVE,
    { environment_ref: { slug: 'production' }, application_ref: slug(number) },
  ],
  commit: (number, draw) => [
    '/applications/revisions/commit',
    {
      application_revision_commit: {
        application_variant_ref: slug(number),
        message: 'Next',
        data: feltPrompt(draw),
      },
    },
  ],
  deployment: (number) => [
    '/applications/revisions/deploy',
    {
      application_variant_ref: slug(number),
      environment_ref: { slug: number % 2 === 0 ? 'staging' : 'production' },
    },
  ],
  query: (number) => [
    '/applications/revisions/query',
    { application_refs: [slug(number)], windowing: { limit: 20 } },
  ],
  run: (number) => [
    '/services/invoke',
    { references: { application: slug(number) }, data: { inputs: { question: 'When does it come?' } } },
  ],
}

const RETRIEVE = '/applications/revisions/retrieve'

function slug(number: number): { readonly slug: string } {
  return { slug: `felt-${number}` }
}

/** A prompt of about two kilobytes that runs without a provider. */
export function feltPrompt(number: number): object {
  const { parameters } = promptData(number) as {
    readonly parameters: { readonly prompt: object }
  }
  const prompt = { ...parameters.prompt, llm_config: { model: 'mock/examples' } }
  return { uri: 'svc:builtin:completion:v0', parameters: { ...parameters, prompt } }
}

/** Sends JSON and reads the answer to its end; answers what went wrong, if anything did. */
function ask(agent: Agent, url: string, path: string, body: object): Promise<string | undefined> {
  return new Promise((resolve) => {
    const failed = (error: Error): void => resolve(error.message)
    const headers = { authorization: `ApiKey ${KEY}`, 'content-type': 'application/json' }
    const sending = request(url + path, { method: 'POST', agent, headers })
    sending.on('error', failed)
    sending.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('error', failed)
      response.on('data', (chunk: Buffer) => response.statusCode === 200 || chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString().slice(0, 300)
        resolve(response.statusCode === 200 ? undefined : `${response.statusCode} ${text}`)
      })
    })
    sending.end(JSON.stringify(body))
  })
}

// As a child of the bench; a test calls `runFelt` itself.
if (process.send && process.argv[1] === import.meta.filename) {
  process.on('message', (order) => {
    // the parent sends nothing else
    void runFelt(order as FeltOrder).then((times) => process.send?.(times))
  })
}
