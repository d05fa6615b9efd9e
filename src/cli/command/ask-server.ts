import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { Refusal } from '../../errors.ts'
import { certificateRemedy } from '../backup/unreachable.ts'
import type { ChosenServer } from './chosen-server.ts'

/** The server gave no answer that says anything of the request: it was not reached, failed, or is no Branchpoint server. */
export class NoAnswer extends Error {}

/** The fields of a server's refusal that are shown or looked at. */
export interface Problem {
  readonly code?: string
  readonly detail?: string
  /** Of a run that failed, in place of `detail`. */
  readonly status?: { readonly message?: string }
  readonly users?: readonly Readonly<Record<string, string>>[]
  readonly conflicts?: readonly Readonly<Record<string, unknown>>[]
}

/** What a server refused, with its problem document. */
export class ServerRefusal extends Refusal {
  readonly problem: Problem

  constructor(sentence: string, problem: Problem) {
    super('invalid_request', sentence)
    this.problem = problem
  }
}

/** A request body that is streamed, with its media type. */
export interface SentFile {
  readonly type: string
  readonly bytes: AsyncIterable<Uint8Array>
}

interface Sent {
  /** An object, or its JSON text where that must be exact. */
  readonly body?: object | string
  readonly file?: SentFile
  /** Headers besides those of every request. */
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/**
 * Sends a request and answers the parsed JSON; the caller knows its type by the route. Throws a ServerRefusal with the server's own sentence and
 * what uses the thing, if the answer says so; NoAnswer if no server answers.
 */
export async function askServer<T>(
  server: ChosenServer,
  method: string,
  path: string,
  sent: Sent = {},
): Promise<T> {
  return JSON.parse(await textFrom(server, method, path, sent)) as T
}

/** Sends a request and answers the JSON text exactly as the server sent it. Throws as `askServer` does. */
export async function textFrom(
  server: ChosenServer,
  method: string,
  path: string,
  sent: Sent = {},
): Promise<string> {
  const response = await responseFrom(server, method, path, sent)
  if (isJson(response)) return textOf(server, response, sent)
  response.destroy()
  throw new NoAnswer(`${server.url}${path} answered no JSON: it is no Branchpoint server.`)
}

/** Sends a request and answers the successful response, whose body the caller reads. Throws as `askServer` does. */
export async function responseFrom(
  server: ChosenServer,
  method: string,
  path: string,
  sent: Sent = {},
): Promise<IncomingMessage> {
  const { url } = server
  const response = await send(server, method, path, sent).catch((error: NodeJS.ErrnoException) => {
    sent.signal?.throwIfAborted()
    // Errors of the network have a code; others are of the file that is sent.
    if (error.code === undefined || !NETWORK.test(error.code)) throw error
    throw new NoAnswer(`No server answers at ${url}: ${reason(error)}.${certificateRemedy(error.code)}`)
  })
  const { statusCode: status = 0, headers } = response
  if (status >= 200 && status < 300) return response
  const answer = await textOf(server, response, sent)
  response.destroy() // what is left of a file is not wanted
  if (status < 400)
    throw new NoAnswer(
      `${url}${path} answered ${status}: use the address ${headers.location ?? 'of a server'}.`,
    )
  const problem = isJson(response) ? problemIn(answer) : {}
  const users = (problem.users ?? []).map((user) => `\n  ${Object.values(user).join(' ')}`)
  const failure = problem.status?.message // a run failed, whatever its status
  const sentence = problem.detail ?? failure ?? `${url}${path} answered ${status}.`
  if (failure === undefined && (problem.detail === undefined || status >= 500)) throw new NoAnswer(sentence)
  throw new ServerRefusal(`${sentence}${users.join('')}`, problem)
}

const MS_TO_CONNECT = 10_000

/** By node's own client, since to load that of `fetch` takes longer than all else that a short command does (decision 55). */
async function send(
  { url, key }: ChosenServer,
  method: string,
  path: string,
  { body, file, headers: more, signal }: Sent,
): Promise<IncomingMessage> {
  const { request } = await (url.startsWith('https:') ? import('node:https') : import('node:http'))
  const json = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const headers = {
    ...more,
    authorization: `ApiKey ${key}`,
    'content-type': file?.type ?? 'application/json',
    ...(json === undefined ? {} : { 'content-length': Buffer.byteLength(json) }),
  }
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { method, headers, ...(signal ? { signal } : {}) }, resolve)
    const tooLate = Object.assign(new Error('no connection within 10 s'), { code: 'ETIMEDOUT' })
    const timer = setTimeout(() => sent.destroy(tooLate), MS_TO_CONNECT)
    const arrived = (): void => clearTimeout(timer)
    sent.on('socket', (socket) => (socket.connecting ? socket.once('connect', arrived) : arrived()))
    sent.on('close', arrived)
    sent.on('error', reject)
    if (file) pipeline(file.bytes, sent).catch(reject)
    else sent.end(json)
  })
}

const NETWORK = /^(?:E[A-Z]+|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERR_TLS|ERR_SSL|HPE_)/

async function textOf({ url }: ChosenServer, response: IncomingMessage, { signal }: Sent): Promise<string> {
  try {
    return await text(response)
  } catch {
    signal?.throwIfAborted()
    throw new NoAnswer(`The answer of ${url} broke off.`) // the only error that reading it has
  }
}

/** The key's project, in which the server works. Refuses a `--project` that names another one. */
export async function projectOfKey(server: ChosenServer, asked: string | undefined): Promise<string> {
  const { project } = await askServer<{ readonly project: { readonly name: string } }>(
    server,
    'GET',
    '/projects/current',
  )
  if (asked === undefined || project.name === asked) return project.name
  throw new Refusal(
    'invalid_request',
    `--project: the key is of the project "${project.name}" at ${server.url}, not of "${asked}". Use a key of that project, or work on ` +
      'the store itself, on its machine: --store DIR.',
  )
}

function isJson({ headers }: IncomingMessage): boolean {
  return /[/+]json\b/.test(headers['content-type'] ?? '')
}

function problemIn(text: string): Problem {
  try {
    return Object(JSON.parse(text)) as Problem // what is no object has no members
  } catch {
    return {} // of a proxy
  }
}

function reason({ code, message }: NodeJS.ErrnoException): string {
  // Where a name has several addresses, node's error has a message for each, and none itself. That of TLS has lines of its source.
  return message.replace(/\n[^]*/, '') || String(code)
}
