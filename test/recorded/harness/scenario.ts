import type { ApiDocument } from '../../support/clients/api-document.ts'

/** Which server a scenario needs: see `SETTINGS` in servers.ts. */
export type ServerKind = 'plain' | 'existing' | 'small'

/**
 * What is asked of a project that nothing else was asked of. Each request may name what earlier answers brought: `<bot>`.
 * One thing has one name all through a scenario, in what is sent as in what is recorded.
 */
export interface Scenario {
  /** The name of its recording: words with dashes. */
  readonly name: string
  readonly server?: ServerKind
  readonly steps: readonly Step[] | ((document: ApiDocument) => readonly Step[])
}

export type Step = RequestStep | RefusalsStep | GitStep | EditStep | CommandStep | EventsStep | DeliveriesStep

/** Which API key a request has: `admin`, `none`, `unknown` (a key that nobody has), `server` (an admin of the project `default`), or scopes with commas between. */
export type KeyName = string

export interface RequestStep {
  readonly kind: 'request'
  /** Says what matters about it, once in a scenario. Dates are named by it. */
  readonly title: string
  readonly method: string
  readonly path: string
  /** Text and bytes are sent as they are, a form as one, anything else as JSON. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly key?: KeyName
  /** What the first id of the answer is called; others that are new are called by it, too: `<bot variant>`. */
  readonly as?: string
  /** Only the status and the headers of the answer are kept, where its body tells of more than the scenario. */
  readonly bare?: true
  /** Asked again until the answer holds this text, as where something ends by itself. Only the last answer is kept. */
  readonly until?: string
}

/** Requests that are to be refused, of each of which only the status, the code and the sentence are kept. */
export interface RefusalsStep {
  readonly kind: 'refusals'
  readonly title: string
  readonly requests: readonly RefusedRequest[]
}

/** `what` says in a few words what is wrong with it, once in a step. */
export type RefusedRequest = Pick<RequestStep, 'method' | 'path' | 'body' | 'headers' | 'key'> & {
  readonly what: string
}

/** A form with a file. */
export interface SentForm {
  readonly form: Readonly<Record<string, string>>
  readonly file?: { readonly name: string; readonly type?: string; readonly content: string | Buffer }
}

/** Runs git in the folder of the scenario. */
export interface GitStep {
  readonly kind: 'git'
  readonly title: string
  readonly args: readonly string[]
  readonly key?: KeyName
  /** A folder in that of the scenario. */
  readonly in?: string
}

/** Writes files into a clone and commits them; a file of `null` is removed. */
export interface EditStep {
  readonly kind: 'edit'
  readonly title: string
  readonly in: string
  readonly files?: Readonly<Record<string, string | null>>
  readonly message?: string
  /** More arguments of `git commit`. */
  readonly args?: readonly string[]
  /** Checked out before, made if it is not there. */
  readonly branch?: string
}

/** Runs a command of `branchpoint`. */
export interface CommandStep {
  readonly kind: 'command'
  readonly title: string
  readonly args: readonly string[]
  /** Files in the scenario's folder that it may read. */
  readonly files?: Readonly<Record<string, string | Buffer>>
  /** Files that it wrote, to be recorded. */
  readonly reads?: readonly string[]
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
  readonly key?: KeyName
  readonly in?: string
}

/** What `GET /events` told since the last such step, or since the scenario began. */
export interface EventsStep {
  readonly kind: 'events'
  readonly title: string
}

/** What the receiver of webhooks got since the last such step. */
export interface DeliveriesStep {
  readonly kind: 'deliveries'
  readonly title: string
  /** How many are waited for. */
  readonly count: number
}

type RequestOptions = Omit<RequestStep, 'kind' | 'title' | 'method' | 'path' | 'body'>

export function get(title: string, path: string, options: RequestOptions = {}): RequestStep {
  return { kind: 'request', title, method: 'GET', path, ...options }
}

export function post(
  title: string,
  path: string,
  body: unknown = {},
  options: RequestOptions = {},
): RequestStep {
  return { kind: 'request', title, method: 'POST', path, body, ...options }
}

export function put(title: string, path: string, body: unknown, options: RequestOptions = {}): RequestStep {
  return { kind: 'request', title, method: 'PUT', path, body, ...options }
}

export function del(title: string, path: string, options: RequestOptions = {}): RequestStep {
  return { kind: 'request', title, method: 'DELETE', path, ...options }
}

export function refusals(title: string, requests: readonly RefusedRequest[]): RefusalsStep {
  return { kind: 'refusals', title, requests }
}

export function gitStep(title: string, args: readonly string[], options: Partial<GitStep> = {}): GitStep {
  return { kind: 'git', title, args, ...options }
}

export function edit(title: string, clone: string, options: Partial<EditStep> = {}): EditStep {
  return { kind: 'edit', title, in: clone, ...options }
}

export function command(
  title: string,
  args: readonly string[],
  options: Partial<CommandStep> = {},
): CommandStep {
  return { kind: 'command', title, args, ...options }
}

export function events(title: string): EventsStep {
  return { kind: 'events', title }
}

export function deliveries(title: string, count: number): DeliveriesStep {
  return { kind: 'deliveries', title, count }
}
