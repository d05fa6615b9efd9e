import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that the stub got. */
export interface ChatRequest {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  // Tests look into requests freely.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any
}

/** How the stub answers one request. */
export type ChatReaction = (response: ServerResponse, request: ChatRequest) => void

/** A real HTTP server that speaks the chat-completions protocol, well or badly. */
export interface ChatStub {
  /** As a base URL has it. */
  readonly url: string
  readonly received: ChatRequest[]
  /** Answers the next requests so, then "Paris" again. */
  answerNext(...reactions: readonly ChatReaction[]): void
  /** How many connections are open. */
  connections(): Promise<number>
  stop(): Promise<void>
}

export async function startChatStub(): Promise<ChatStub> {
  const received: ChatRequest[] = []
  const reactions: ChatReaction[] = []
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const body: unknown = JSON.parse(Buffer.concat(pieces).toString('utf8'))
      const got = { url: request.url ?? '', headers: request.headers, body }
      received.push(got)
      response.on('error', () => undefined)
      const react = reactions.shift() ?? replying({ role: 'assistant', content: 'Paris' })
      react(response, got)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // what a server that listens on a port has
  return {
    url: `http://127.0.0.1:${port}/v1`,
    received,
    answerNext: (...next) => void reactions.push(...next),
    connections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    stop: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** Answers this JSON. */
export function json(
  body: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): ChatReaction {
  return (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

/** Answers this text as it is. */
export function text(body: string, status = 200, type = 'application/json'): ChatReaction {
  return (response) => response.writeHead(status, { 'content-type': type }).end(body)
}

/** Answers a whole reply with this message. */
export function replying(message: object, finishReason = 'stop'): ChatReaction {
  return json({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'gpt-4o-mini-2024-07-18',
    choices: [{ index: 0, message, finish_reason: finishReason }],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
  })
}

/** Refuses as providers do. */
export function refusing(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): ChatReaction {
  return json({ error: { message, type: 'some_error', code: null } }, status, headers)
}

/** Answers deltas one after the other, then ends the answer as the protocol wants it, or as `end` does. */
export function streaming(
  deltas: readonly object[],
  end: (response: ServerResponse) => void = finished,
): ChatReaction {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const delta of deltas) response.write(event({ choices: [{ index: 0, delta, finish_reason: null }] }))
    end(response)
  }
}

/** The last events of a good stream. */
export function finished(response: ServerResponse, finishReason = 'stop'): void {
  response.write(event({ choices: [{ index: 0, delta: {}, finish_reason: finishReason }] }))
  const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }
  response.write(event({ choices: [], usage }))
  response.end('data: [DONE]\n\n')
}

/** One event of a stream. */
export function event(body: object): string {
  return `data: ${JSON.stringify({ id: 'chatcmpl-2', model: 'gpt-4o-mini-2024-07-18', ...body })}\n\n`
}
