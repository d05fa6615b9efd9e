import type { Middleware } from 'koa'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { isJsonArray, type Json } from '../../base/json.ts'
import { invalid } from '../../errors.ts'
import type { ReadJsonBody } from '../body/json-body.ts'
import type { RequestContext, RequestState, SessionDoor } from '../request.ts'
import { clientAbort } from '../routing/client-abort.ts'
import { methodNotAllowed } from '../routing/not-found.ts'
import type { Handle } from '../server/server.ts'
import { RequestsInside } from './rest.ts'
import { readGroup, type ToolGroup } from './tool-groups.ts'

/** The address of MCP, which has no second one below `/api` (interface 17.1). */
export const MCP_ADDRESS = '/mcp'

export interface McpParts {
  /** Answers every request; tools send theirs through it. */
  readonly handle: () => Handle
  readonly readJsonBody: ReadJsonBody
  readonly door: Pick<SessionDoor, 'assertNoOtherPage'>
}

/** `POST /mcp`: the Model Context Protocol over streamable HTTP, without sessions (interface 17). Its code is loaded with the first request. */
export function mcp({ handle, readJsonBody, door }: McpParts): Middleware<RequestState> {
  let inside: RequestsInside | undefined
  return async (ctx, next) => {
    if (ctx.path !== MCP_ADDRESS || !/^\/mcp\/?(?:\?|$)/.test(ctx.originalUrl)) return next()
    ctx.state.route = MCP_ADDRESS
    if (ctx.method !== 'POST') throw methodNotAllowed(ctx.method, MCP_ADDRESS, ['POST'])
    door.assertNoOtherPage(ctx)
    const group = groupIn(ctx.querystring)
    const message = await messageIn(ctx, readJsonBody)
    const { answerMessage } = await loadServer()
    inside ??= new RequestsInside(handle())
    const send = inside.as(ctx.req.headers, ctx.state.requestId)
    const options = { group, choice: (it: string) => `${MCP_ADDRESS}?tools=${it}` }
    answerWith(ctx, await answerMessage(webRequest(ctx), message, send, options))
  }
}

/** Loads the protocol's code, which few servers are asked for. */
export function loadServer(): Promise<typeof import('./mcp-server.ts')> {
  return import('./mcp-server.ts')
}

/** The group of tools of `?tools=`; read alone unless it says more. Refuses any other parameter of the query string. */
function groupIn(querystring: string): ToolGroup {
  const query = new URLSearchParams(querystring)
  const other = [...query.keys()].find((name) => name !== 'tools')
  if (other !== undefined)
    throw invalid(
      ['query', other.slice(0, 80)],
      'there is only the parameter tools here; leave this one out',
      'unknown_field',
    )
  return readGroup(query.get('tools') ?? 'read', ['query', 'tools'])
}

/** One message, exactly as it was sent. Batches are refused: a request counts as one, however much it asks for. */
async function messageIn(ctx: RequestContext, readJsonBody: ReadJsonBody): Promise<Json> {
  const { value } = await readJsonBody(ctx)
  if (value === undefined) throw invalid(['body'], 'send a message of JSON-RPC 2.0 as the body', 'missing')
  if (isJsonArray(value))
    throw invalid(['body'], 'a list of messages is not taken: send each as a request of its own')
  return value
}

/** The request as the protocol's code reads it: its headers. The body has been read. */
function webRequest(ctx: RequestContext): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(ctx.req.headers))
    if (typeof value === 'string') headers.set(name, value)
  return new Request(`http://localhost${MCP_ADDRESS}`, {
    method: 'POST',
    headers,
    signal: clientAbort(ctx.res),
  })
}

function answerWith(ctx: RequestContext, { status, headers, body }: Response): void {
  ctx.status = status
  headers.forEach((value, name) => ctx.set(name, value))
  // Both are the streams of the web; node and the library of types for browsers each have a type for them.
  // For no body at all, Koa would change the status.
  ctx.body = body ? Readable.fromWeb(body as unknown as ReadableStream) : ''
}
