import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { ApiDocument } from '../../support/clients/api-document.ts'
import { encoded, EventsReader, isForm, type RecordedAnswer, send } from './client.ts'
import { CLOCK_HEADER } from './clock-header.ts'
import { Names } from './names.ts'
import {
  type Printed,
  laidOut,
  printedJson,
  printedLines,
  printedObject,
  printedText,
  printedValue,
} from './print-json.ts'
import type { CommandStep, EditStep, GitStep, RefusalsStep, RequestStep, Scenario, Step } from './scenario.ts'
import { type RecordedReceiver, type RecordedServer, SERVER_KEY } from './servers.ts'
import { announce, printedChanges, StoreReader } from './store-reader.ts'

/** What a step came to, as it stands in a recording. */
export interface Recording {
  readonly title: string
  readonly text: string
}

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url)).replace(/\/$/, '')
const PROGRAM = join(ROOT, 'dist', 'src', 'cli', 'main.js')

/** Runs a scenario in a project of its own. */
export async function runScenario(
  scenario: Scenario,
  server: RecordedServer,
  receiver: RecordedReceiver,
  document: ApiDocument,
): Promise<readonly Recording[]> {
  const run = await ScenarioRun.begin(scenario.name, server, receiver)
  try {
    const steps = typeof scenario.steps === 'function' ? scenario.steps(document) : scenario.steps
    if (steps.some(({ kind }) => kind === 'events')) await run.listen()
    for (const step of steps) await run.take(step)
    return run.recordings
  } finally {
    run.end()
  }
}

/** Headers of answers that mean something, in the order in which they are recorded. */
const HEADERS = [
  ...(['etag', 'location', 'retry-after', 'link', 'www-authenticate', 'allow', 'cache-control'] as const),
  ...([
    'content-disposition',
    'content-encoding',
    'set-cookie',
    'deprecation',
    'idempotent-replayed',
  ] as const),
  ...([
    'x-svc-version',
    'x-svc-trace-id',
    'x-svc-span-id',
    'x-svc-session-id',
    'traceparent',
    'baggage',
  ] as const),
  ...([
    'access-control-allow-origin',
    'content-security-policy',
    'x-frame-options',
    'referrer-policy',
  ] as const),
] as const

class ScenarioRun {
  readonly recordings: Recording[] = []
  readonly #project: string
  readonly #server: RecordedServer
  readonly #receiver: RecordedReceiver
  readonly #names = new Names()
  readonly #store: StoreReader
  readonly #folder = mkdtempSync(join(tmpdir(), 'recorded-work-'))
  readonly #keys = new Map<string, string>()
  readonly #titles = new Set<string>()
  #events: EventsReader | undefined
  #toldSoFar = 0
  #receivedSoFar = 0
  #markers = 0

  private constructor(project: string, server: RecordedServer, receiver: RecordedReceiver) {
    this.#project = project
    this.#server = server
    this.#receiver = receiver
    this.#store = new StoreReader(join(server.storeDir, project))
  }

  static async begin(
    project: string,
    server: RecordedServer,
    receiver: RecordedReceiver,
  ): Promise<ScenarioRun> {
    const run = new ScenarioRun(project, server, receiver)
    run.#keys.set('admin', await server.newProject(project))
    const host = new URL(server.url).host
    for (const [raw, name] of [
      [server.url, '<server>'],
      [`http://localhost:${host.split(':')[1]}`, '<server>'],
      [host, '<host>'],
      [`${receiver.url}/${project}`, '<receiver>'],
      [new URL(receiver.url).host, '<receiver host>'],
      [join(server.storeDir, project), '<project folder>'],
      [server.storeDir, '<store>'],
      [run.#folder, '<folder>'],
      [ROOT, '<root>'],
      [process.version, '<version of node>'],
      [run.#keys.get('admin') ?? '', '<admin key>'],
    ] as const)
      run.#names.fix(raw, name)
    // The project opens, with the environments that it begins with.
    const first = await run.#ask('POST', '/environments/query', await run.#json(), '{}')
    run.#names.begin('the start', clockOf(first), undefined)
    const listed = JSON.parse(first.body.toString()) as {
      readonly environments?: readonly { readonly id: string; readonly slug: string }[]
    }
    for (const { id, slug } of listed.environments ?? []) run.#names.fix(id, `<${slug}>`)
    const keys = await run.#ask('GET', '/keys', await run.#json(), undefined)
    const { keys: made } = JSON.parse(keys.body.toString()) as {
      readonly keys: readonly { readonly id: string }[]
    }
    for (const { id } of made) run.#names.fix(id, '<id of admin key>')
    announce(await run.#store.changes(), run.#names)
    return run
  }

  /** From now on what `GET /events` tells is kept. */
  async listen(): Promise<void> {
    this.#events = await EventsReader.open(this.#server.url, {
      authorization: `ApiKey ${this.#keys.get('admin')}`,
    })
  }

  end(): void {
    this.#events?.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async take(step: Step): Promise<void> {
    if (this.#titles.has(step.title))
      throw new Error(`${this.#project}: two steps are called "${step.title}"`)
    this.#titles.add(step.title)
    try {
      const members = await this.#taken(step)
      const changes = await this.#store.changes()
      announce(changes, this.#names)
      const told = members()
      if (step.kind === 'request' && step.as !== undefined && Number(told['status']?.flat) >= 400)
        throw new Error(
          `it brought no <${step.as}>, but ${told['status']?.flat} ${told['answer']?.flat.slice(0, 600)}`,
        )
      const whole = printedObject({
        step: printedText(step.title),
        ...told,
        ...printedChanges(changes, this.#names),
      })
      this.recordings.push({ title: step.title, text: laidOut(whole) })
    } catch (error) {
      throw new Error(
        `${this.#project}, "${step.title}": ${error instanceof Error ? error.message : String(error)}`,
        { cause: error },
      )
    }
  }

  /** Does what a step says; what it came to is printed once the store has been looked at. */
  async #taken(step: Step): Promise<() => Record<string, Printed | undefined>> {
    if (step.kind === 'request') return this.#request(step)
    await this.#begin(step.title)
    if (step.kind === 'refusals') return this.#refused(step)
    if (step.kind === 'git') return this.#git(step)
    if (step.kind === 'edit') return this.#edit(step)
    if (step.kind === 'command') return this.#command(step)
    return step.kind === 'events' ? this.#told() : this.#received(step.count)
  }

  /** A moment for a step that is no request itself. */
  async #begin(title: string): Promise<void> {
    this.#names.begin(title, clockOf(await this.#ask('GET', '/health', {}, undefined)), undefined)
  }

  async #request(step: RequestStep): Promise<() => Record<string, Printed | undefined>> {
    const { method, title, as, until, bare } = step
    const { path, bytes, own, headers } = await this.#prepared(step)
    let answer: RecordedAnswer
    for (let left = 3000; ; left--) {
      answer = await this.#ask(method, path, headers, bytes)
      if (until === undefined || answer.body.toString().includes(this.#names.filled(until))) break
      if (left === 0) throw new Error(`it never answered ${until}, but ${answer.body.toString()}`)
      await pause(10)
    }
    this.#names.begin(title, clockOf(answer), as)
    return () => ({
      request: printedText(this.#names.text(`${method} ${this.#names.filled(step.path)}`, 'id')),
      key: step.key === undefined ? undefined : printedText(step.key),
      headers: step.headers && printedValue(own, this.#names),
      ...this.#sent(step.body),
      status: { flat: String(answer.status) },
      ...this.#answered(answer, bare),
    })
  }

  /** A request as it is sent. */
  async #prepared({
    path,
    body,
    headers = {},
    key,
  }: Pick<RequestStep, 'path' | 'body' | 'headers' | 'key'>): Promise<{
    readonly path: string
    readonly bytes: Buffer | undefined
    readonly own: Readonly<Record<string, string>>
    readonly headers: Readonly<Record<string, string>>
  }> {
    const { bytes, type } = encoded(body, (text) => this.#names.filled(text))
    const own = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, this.#names.filled(value)]),
    )
    return {
      path: encodeURI(this.#names.filled(path)).replaceAll('%25', '%'),
      bytes,
      own,
      headers: {
        ...(await this.#authorization(key)),
        ...(type === undefined ? {} : { 'content-type': type }),
        ...own,
      },
    }
  }

  async #refused({ requests }: RefusalsStep): Promise<() => Record<string, Printed | undefined>> {
    const told: Record<string, Printed> = {}
    for (const { what, method, ...rest } of requests) {
      if (told[what]) throw new Error(`two requests are called "${what}"`)
      const { path, bytes, headers } = await this.#prepared(rest)
      const { status, body } = await this.#ask(method, path, headers, bytes)
      const { code, detail } = problemIn(body.toString())
      told[what] = printedObject({
        request: printedText(this.#names.text(`${method} ${this.#names.filled(rest.path)}`, 'id')),
        status: { flat: String(status) },
        code: code === undefined ? undefined : printedText(code),
        detail: detail === undefined ? undefined : printedText(this.#names.text(detail, 'id')),
      })
    }
    return () => ({ refusals: printedObject(told) })
  }

  #sent(body: unknown): Record<string, Printed | undefined> {
    if (body === undefined) return {}
    if (Buffer.isBuffer(body)) return { body: printedText(`${body.length} bytes, sha256 ${sha256(body)}`) }
    if (isForm(body)) {
      const { form, file } = body
      const content =
        file &&
        (Buffer.isBuffer(file.content)
          ? `${file.content.length} bytes, sha256 ${sha256(file.content)}`
          : file.content)
      return {
        form: printedValue(
          { ...form, ...(file && { file: { ...file, content: shortened(content ?? '') } }) },
          this.#names,
        ),
      }
    }
    const text = this.#names.filled(typeof body === 'string' ? body : JSON.stringify(body))
    if (text === '{}') return {}
    if (text.length > 20_000) return { body: printedText(shortened(text)) }
    return { body: printedJson(text, this.#names) ?? printedText(this.#names.text(text, 'id')) }
  }

  #answered(
    { status, headers, body }: RecordedAnswer,
    bare: true | undefined,
  ): Record<string, Printed | undefined> {
    const type = String(headers['content-type'] ?? '')
    const expected = status < 400 ? 'application/json; charset=utf-8' : 'application/problem+json'
    const text = body.toString()
    const isText = Buffer.from(text).equals(body)
    const whole = !isText ? printedText(`${body.length} bytes, sha256 ${sha256(body)}`) : undefined
    const json =
      whole === undefined && !bare && /json/.test(type) ? printedJson(text, this.#names) : undefined
    const asIs = body.length > 0 && !bare ? printedLines(this.#names.text(text, 'id')) : undefined
    // What is in a body is named before what a header says of it.
    const kept: [string, Printed][] =
      body.length > 0 && type !== expected ? [['content-type', printedText(type)]] : []
    for (const name of HEADERS) {
      const value = headers[name]
      if (value === undefined) continue
      const kind = name === 'set-cookie' ? 'session' : name.replace(/^x-svc-|-id$/g, '')
      const named = (text: string): string => this.#names.text(text, kind)
      const text = [value].flat().join(' | ')
      // The ids in a traceparent have dashes around them, as no other id has.
      kept.push([
        name,
        printedText(
          name === 'traceparent'
            ? text.replaceAll(/[0-9a-f]{32}|(?<=-)[0-9a-f]{16}(?=-)/g, named)
            : named(text),
        ),
      ])
    }
    if (headers['x-request-id'] === undefined) kept.push(['x-request-id', printedText('missing')])
    return {
      'answer headers': kept.length > 0 ? printedObject(Object.fromEntries(kept)) : undefined,
      answer: bare ? undefined : (whole ?? json ?? asIs),
    }
  }

  async #git({ args, key, in: folder }: GitStep): Promise<() => Record<string, Printed | undefined>> {
    const sent = args.map((arg) => this.#names.filled(arg))
    const authorization = (await this.#authorization(key)).authorization
    const ended = await this.#run('git', sent, join(this.#folder, folder ?? ''), authorization)
    return () => ({ git: printedText(this.#names.text(sent.join(' '), 'id')), ...this.#ended(ended) })
  }

  async #edit(step: EditStep): Promise<() => Record<string, Printed | undefined>> {
    const folder = join(this.#folder, step.in)
    const git = async (...args: string[]): Promise<Ended> => this.#run('git', args, folder)
    if (step.branch !== undefined && (await git('checkout', '-q', step.branch)).code !== 0)
      await git('checkout', '-q', '-b', step.branch)
    for (const [name, content] of Object.entries(step.files ?? {})) {
      const path = join(folder, this.#names.filled(name))
      if (content === null) rmSync(path, { recursive: true })
      else {
        mkdirSync(dirname(path), { recursive: true })
        writeFileSync(path, this.#names.filled(content))
      }
    }
    await git('add', '-A')
    const message = ['-m', this.#names.filled(step.message ?? 'Edit')]
    const ended = await git(
      'commit',
      '-q',
      ...message,
      ...(step.args ?? []).map((arg) => this.#names.filled(arg)),
    )
    this.#names.isCommit((await git('rev-parse', 'HEAD')).output.trim())
    return () => ({
      edit: printedValue({ ...step.files }, this.#names),
      message: printedText(step.message ?? 'Edit'),
      ...this.#ended(ended),
    })
  }

  async #command(step: CommandStep): Promise<() => Record<string, Printed | undefined>> {
    for (const [name, content] of Object.entries(step.files ?? {})) {
      mkdirSync(dirname(join(this.#folder, name)), { recursive: true })
      writeFileSync(
        join(this.#folder, name),
        typeof content === 'string' ? this.#names.filled(content) : content,
      )
    }
    const args = step.args.map((arg) => this.#names.filled(arg))
    const key =
      step.key === 'none' ? '' : (await this.#authorization(step.key)).authorization?.replace('ApiKey ', '')
    const env = {
      BRANCHPOINT_URL: this.#server.url,
      ...(key ? { BRANCHPOINT_KEY: key } : {}),
      ...Object.fromEntries(
        Object.entries(step.env ?? {}).map(([name, value]) => [name, this.#names.filled(value)]),
      ),
    }
    const ended = await this.#run(
      process.execPath,
      [PROGRAM, ...args],
      join(this.#folder, step.in ?? ''),
      undefined,
      env,
      step.input,
    )
    const read = (step.reads ?? []).map((name) => [name, this.#read(name)] as const)
    return () => ({
      command: printedText(this.#names.text(['branchpoint', ...args].join(' '), 'id')),
      env: step.env && printedValue(step.env, this.#names),
      ...this.#ended({ ...ended, output: untimed(ended.output), complaint: untimed(ended.complaint) }),
      files:
        read.length > 0
          ? printedObject(
              Object.fromEntries(
                read.map(([name, text]) => [name, printedLines(this.#names.text(text, 'id'))]),
              ),
            )
          : undefined,
    })
  }

  #read(name: string): string {
    try {
      return readFileSync(join(this.#folder, name), 'utf8')
    } catch {
      return '(no file)'
    }
  }

  /** A marker is written behind all that was: what came before its event is complete. */
  async #told(): Promise<() => Record<string, Printed | undefined>> {
    const marker = `marker-${++this.#markers}`
    await this.#ask('POST', '/workflows', await this.#json(), JSON.stringify({ workflow: { slug: marker } }))
    const told = this.#events?.told ?? []
    for (let left = 6000; !told.slice(this.#toldSoFar).some((event) => event.includes(marker)); left--) {
      if (left === 0)
        throw new Error(`the marker's event did not come, but ${told.slice(this.#toldSoFar).join('\n')}`)
      await pause(5)
    }
    const fresh = told.slice(this.#toldSoFar).filter((event) => !event.includes(marker))
    this.#toldSoFar = told.length
    return () => ({
      events: printedList(
        fresh.map((event) => {
          const [, name = 'message'] = /^event: ?(.*)$/m.exec(event) ?? []
          const [, data = ''] = /^data: ?(.*)$/m.exec(event) ?? []
          return printedObject({
            event: printedText(name),
            data: printedJson(data, this.#names) ?? printedText(this.#names.text(data, 'id')),
          })
        }),
      ),
    })
  }

  async #received(count: number): Promise<() => Record<string, Printed | undefined>> {
    const all = (): readonly { readonly path: string }[] => this.#receiver.of(this.#project)
    for (let left = 6000; all().length < this.#receivedSoFar + count; left--) {
      if (left === 0) throw new Error(`${all().length - this.#receivedSoFar} deliveries came, not ${count}`)
      await pause(5)
    }
    const fresh = this.#receiver.of(this.#project).slice(this.#receivedSoFar)
    this.#receivedSoFar += fresh.length
    return () => ({
      deliveries: printedList(
        fresh
          .map(({ method, path, headers, body }) =>
            printedObject({
              request: printedText(`${method} ${path.replace(`/${this.#project}`, '<receiver>')}`),
              'content-type': printedText(headers['content-type'] ?? ''),
              signed: printedText(
                Object.keys(headers)
                  .filter((name) => /^webhook-/.test(name))
                  .sort()
                  .join(' '),
              ),
              body: printedJson(body, this.#names) ?? printedLines(this.#names.text(body, 'id')),
            }),
          )
          .sort((a, b) => (a.flat < b.flat ? -1 : 1)),
      ),
    })
  }

  #ended({ code, output, complaint }: Ended): Record<string, Printed | undefined> {
    const told = (text: string): Printed | undefined =>
      text === '' ? undefined : printedLines(this.#names.text(text, 'id'))
    return { exit: { flat: String(code) }, output: told(output), errors: told(complaint) }
  }

  #run(
    program: string,
    args: readonly string[],
    cwd: string,
    authorization?: string,
    more: object = {},
    input?: string,
  ): Promise<Ended> {
    const header =
      authorization === undefined
        ? {}
        : {
            GIT_CONFIG_COUNT: '1',
            GIT_CONFIG_KEY_0: 'http.extraHeader',
            GIT_CONFIG_VALUE_0: `Authorization: ${authorization}`,
          }
    const env = { ...PLAIN_ENV, ...header, ...more, HOME: this.#folder }
    return new Promise((resolve) => {
      const child = execFile(
        program,
        [...args],
        { cwd, env, maxBuffer: 1 << 28 },
        (error, output, complaint) => {
          resolve({ code: error ? (child.exitCode ?? -1) : 0, output, complaint })
        },
      )
      child.stdin?.on('error', () => undefined) // it need not read
      child.stdin?.end(input)
    })
  }

  async #json(): Promise<Record<string, string>> {
    return { ...(await this.#authorization('admin')), 'content-type': 'application/json' }
  }

  async #authorization(key = 'admin'): Promise<{ authorization?: string }> {
    if (key === 'none') return {}
    if (key === 'unknown') return { authorization: 'ApiKey svc_nobody' }
    if (key === 'server') return { authorization: `ApiKey ${SERVER_KEY}` }
    if (!this.#keys.has(key)) {
      const body = JSON.stringify({ key: { name: key.replaceAll(',', '-'), scopes: key.split(',') } })
      const answer = await this.#ask('POST', '/keys', await this.#json(), body)
      const { key: made } = JSON.parse(answer.body.toString()) as {
        readonly key?: { readonly id: string; readonly secret: string }
      }
      if (!made) throw new Error(`no key for ${key}: ${answer.body.toString()}`)
      this.#keys.set(key, made.secret)
      this.#names.fix(made.secret, `<${key} key>`)
      this.#names.fix(made.id, `<id of ${key} key>`)
    }
    return { authorization: `ApiKey ${this.#keys.get(key)}` }
  }

  #ask(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: string | Buffer | undefined,
  ): Promise<RecordedAnswer> {
    return send(method, this.#server.url + path, headers, typeof body === 'string' ? Buffer.from(body) : body)
  }
}

/** What a command prints without how long it took, and without the day, which `blame` prints alone. */
function untimed(text: string): string {
  return text
    .replaceAll(/(?<=, |in )\d+\.\d s\b/g, '(seconds)')
    .replaceAll(/\b\d{4}-\d\d-\d\d(?= )/g, '(day)')
}

interface Ended {
  readonly code: number
  readonly output: string
  readonly complaint: string
}

const PLAIN_ENV = {
  PATH: process.env['PATH'],
  TZ: 'UTC',
  LANG: 'C.UTF-8',
  NO_COLOR: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_TEMPLATE_DIR: '',
  GIT_AUTHOR_NAME: 'Ann',
  GIT_AUTHOR_EMAIL: 'ann@example.com',
  GIT_COMMITTER_NAME: 'Ann',
  GIT_COMMITTER_EMAIL: 'ann@example.com',
  GIT_AUTHOR_DATE: '2026-01-02T03:04:05Z',
  GIT_COMMITTER_DATE: '2026-01-02T03:04:05Z',
}

function problemIn(text: string): { readonly code?: string; readonly detail?: string } {
  try {
    const { code, detail } = JSON.parse(text) as { readonly code?: unknown; readonly detail?: unknown }
    return typeof code === 'string' && typeof detail === 'string' ? { code, detail } : {}
  } catch {
    return {}
  }
}

function clockOf({ headers }: RecordedAnswer): number {
  return Number(headers[CLOCK_HEADER] ?? 0)
}

function printedList(members: readonly Printed[]): Printed {
  return {
    flat: `[${members.map(({ flat }) => flat).join(', ')}]`,
    open: '[',
    members: members.map((value) => ({ key: '', value })),
  }
}

function sha256(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Long bodies are made by rule; their hash says whether they are the same. */
function shortened(text: string): string {
  return text.length <= 20_000
    ? text
    : `${text.slice(0, 100)}… ${text.length} characters, sha256 ${sha256(text)}`
}
