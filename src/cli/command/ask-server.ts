import { Refusal } from '../../errors.ts'
import type { ChosenServer } from './chosen-server.ts'

/** The fields of a server's refusal that are shown. */
interface Problem {
  readonly detail?: string
  readonly users?: readonly Readonly<Record<string, string>>[]
}

/** A request body that is streamed, with its media type. */
export interface SentFile {
  readonly type: string
  readonly bytes: AsyncIterable<Uint8Array>
}

/**
 * Sends a request and answers the parsed JSON; the caller knows its type by the route. Throws a Refusal with the server's own sentence and
 * what uses the thing, if the answer says so; `storage_unavailable` if no server answers.
 */
export async function askServer<T>(
  server: ChosenServer,
  method: string,
  path: string,
  {
    body,
    file,
    signal,
  }: { readonly body?: object; readonly file?: SentFile; readonly signal?: AbortSignal } = {},
): Promise<T> {
  const response = await fetchFrom(server, path, {
    method,
    headers: { 'content-type': file?.type ?? 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
    ...(file ? { body: ReadableStream.from(file.bytes), duplex: 'half' } : {}),
    ...(signal ? { signal } : {}),
  })
  if (isJson(response)) return (await response.json()) as T
  throw new Refusal('invalid_request', `${server.url}${path} answered no JSON: it is no Branchpoint server.`)
}

/** Sends a request and answers the successful response, whose body the caller reads. Throws as `askServer` does. */
export async function fetchFrom(
  { url, key }: ChosenServer,
  path: string,
  init: RequestInit,
): Promise<Response> {
  const response = await fetch(`${url}${path}`, {
    ...init,
    headers: { ...init.headers, authorization: `ApiKey ${key}` },
  }).catch((error: unknown) => {
    if (init.signal?.aborted) throw error
    throw new Refusal('storage_unavailable', `No server answers at ${url}: ${reason(error)}.`)
  })
  if (response.ok) return response
  const text = await response.text()
  const problem = isJson(response) ? (JSON.parse(text) as Problem) : {} // written by the server
  const users = (problem.users ?? []).map((user) => `\n  ${Object.values(user).join(' ')}`)
  throw new Refusal(
    'invalid_request',
    `${problem.detail ?? `${url}${path} answered ${response.status}.`}${users.join('')}`,
  )
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

function isJson(response: Response): boolean {
  return /[/+]json\b/.test(response.headers.get('content-type') ?? '')
}

function reason(error: unknown): string {
  const { cause, message } = error as Error // fetch throws no other type
  return cause instanceof Error ? cause.message : message
}
