import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What speaks for a language model in the demonstration, so that it needs no key and no network. */
export interface StandInModel {
  /** As `OPENAI_BASE_URL` has it. */
  readonly url: string
  close(): void
}

/** Answers chat completions: with a page of the manual where the prompt asks for the manual, and with regret where it does not. */
export async function startStandInModel(): Promise<StandInModel> {
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const isAskedFor = Buffer.concat(pieces).toString('utf8').includes('cite the manual')
    const content = isAskedFor
      ? 'Hold the button for ten seconds (manual, page 4).'
      : 'I am sorry to hear that!'
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({ id: 'demo', object: 'chat.completion', created: 0, model: 'demo', choices }),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // what a server that listens on a port has
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
