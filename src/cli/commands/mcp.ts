import type { Server } from '@modelcontextprotocol/server'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { Refusal } from '../../errors.ts'
import { Semaphore } from '../../base/scheduling.ts'
import { loadServer, readGroup, type SendRequest } from '../../http/mcp.ts'
import { responseFrom } from '../command/ask-server.ts'
import { type ChosenServer, chosenServer } from '../command/chosen-server.ts'
import type { Command, Shell } from '../command/command.ts'
import { readArguments } from '../command/read-arguments.ts'
import { UsageError } from '../command/usage-error.ts'
import { VERBS } from '../command/verbs.ts'

const USAGE = `Let an agent use a server: speak the Model Context Protocol over standard input and output.

  branchpoint mcp [--tools read|author|deploy] [--url URL] [--key KEY]

  --tools       read (unless given): search, read, compare; author: also commit, fork, run, evaluate; deploy: also deploy and roll back
  --url, --key  the server and an API key, whose scopes hold; unless given, BRANCHPOINT_URL and BRANCHPOINT_KEY, or else what login
                stored last

An agent starts this command by itself. It ends when the agent closes standard input. Messages about problems go to standard error.

Example:
  claude mcp add branchpoint --env BRANCHPOINT_URL=… --env BRANCHPOINT_KEY=… -- branchpoint mcp`

export const mcpCommand: Command = { usage: USAGE, run, stopped: () => 'Stopped.' }

/** An agent may call many tools at once; a server takes a limited number of requests. */
const REQUESTS_AT_ONCE = 16

async function run(args: readonly string[], { environment, progress, signal }: Shell): Promise<number> {
  const { values } = readArguments(args, VERBS.mcp.options, { usage: USAGE, takesWords: false })
  const group = groupOf(values.tools)
  const chosen = chosenServer(values, environment, USAGE)
  const { createServer } = await loadServer()
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio')
  let current: Server | undefined
  const stdio = serveStdio(
    () => {
      const choice = (it: string): string => `--tools ${it}`
      current = createServer(sendTo(chosen), { group, choice, tellsChanges: true })
      return current
    },
    { onerror: ({ message }) => progress.write(`${message}\n`) },
  )
  // Each answer of many calls at once waits for standard output.
  process.stdout.setMaxListeners(0)
  const ended = new AbortController()
  const following = followChanges(chosen, () => current, {
    signal: AbortSignal.any([signal, ended.signal]),
    report: (line) => progress.write(line),
  })
  await Promise.race([once(process.stdin, 'close'), once(signal, 'abort')])
  ended.abort()
  await Promise.all([stdio.close(), following])
  signal.throwIfAborted()
  return 0
}

function groupOf(named = 'read') {
  try {
    return readGroup(named, ['--tools'])
  } catch (error) {
    throw error instanceof Refusal ? new UsageError(error.message, USAGE) : error
  }
}

function sendTo({ url, key }: ChosenServer): SendRequest {
  const permits = new Semaphore(REQUESTS_AT_ONCE)
  return async (method, path, body, signal) => {
    const release = await permits.acquire({ key: '', signal, mostWaiting: Infinity })
    try {
      const headers = { authorization: `ApiKey ${key}`, 'content-type': 'application/json' }
      const response = await fetch(`${url}${path}`, {
        method,
        headers,
        signal,
        ...(body === undefined ? {} : { body }),
      })
      return { status: response.status, text: await response.text() }
    } catch (error) {
      if (signal.aborted) throw error
      const { cause, message } = error as Error // fetch throws no other type
      const why = cause instanceof Error ? cause.message : message
      return { status: 503, text: JSON.stringify({ detail: `No server answers at ${url}: ${why}.` }) }
    } finally {
      release?.()
    }
  }
}

/** What comes in quick succession, as the events of one commit do, is told once. */
const TOGETHER_MS = 200
const LONGEST_PAUSE_MS = 30_000

interface Following {
  readonly signal: AbortSignal
  readonly report: (line: string) => void
}

/** Tells the agent that its lists have changed, as the server's events say so (interface 17.8), until the signal. Resolves then. */
async function followChanges(
  chosen: ChosenServer,
  server: () => Server | undefined,
  { signal, report }: Following,
): Promise<void> {
  let lastId: string | undefined
  let timer: NodeJS.Timeout | undefined
  const changed = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined
      // A client that is not there yet, or no longer, needs no news.
      server()
        ?.sendPromptListChanged()
        .catch(() => undefined)
      server()
        ?.sendResourceListChanged()
        .catch(() => undefined)
    }, TOGETHER_MS)
  }
  for (let wait = 1000; !signal.aborted; wait = Math.min(2 * wait, LONGEST_PAUSE_MS)) {
    try {
      const headers: Record<string, string> = { accept: 'text/event-stream' }
      if (lastId !== undefined) headers['last-event-id'] = lastId
      const events = await responseFrom(chosen, 'GET', '/events', { headers, signal })
      for await (const line of linesOf(events)) {
        wait = 1000
        const [, field, value = ''] = /^(id|event): (.*)$/.exec(line) ?? []
        if (field === 'id') lastId = value
        if (field === 'event' && CHANGES.has(value)) changed()
      }
    } catch (error) {
      if (!signal.aborted && wait === 1000)
        report(`Changes are not followed now: ${(error as Error).message}\n`)
    }
    await pause(wait, undefined, { signal }).catch(() => undefined)
  }
  clearTimeout(timer)
}

/** Events after which a prompt or another artifact may be there, be gone, or have other variables. */
const CHANGES: ReadonlySet<string> = new Set(['artifact', 'revision', 'reset'])

/** The lines of a stream of events. Throws where the connection breaks. */
async function* linesOf(stream: IncomingMessage): AsyncGenerator<string> {
  let rest = ''
  for await (const text of stream.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}
