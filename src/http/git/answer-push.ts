import { principalOf } from '../../access/keys.ts'
import { counts } from '../../base/counters.ts'
import { Refusal } from '../../errors.ts'
import type { IncomingObjects, PackStream } from '../../git/receive.ts'
import {
  acceptPush,
  type PushLimits,
  checkRefCommand,
  type RefCommand,
  type RefOutcome,
  refRefusalOf,
  type RefRefusal,
} from '../../registry/push.ts'
import type { ArtifactView } from '../../registry/artifacts.ts'
import type { Registry } from '../../registry/registries.ts'
import { inflatedBody } from '../body/inflate-body.ts'
import type { AuthenticatedContext } from '../request.ts'
import { clientAbort } from '../routing/client-abort.ts'
import { spooled } from '../body/spool.ts'
import type { GitRoom } from './git-room.ts'
import { FLUSH, onBand, pktLine } from './pkt-line.ts'
import type { Oid } from '../../git/objects.ts'

/** Limits of a push. */
export interface PushSettings extends PushLimits {
  /** Maximum bytes of a push as received. */
  readonly maxBytes: number
}

/** The commands of the largest push are shorter. */
const COMMAND_BYTES = 4 * 1024 * 1024

/**
 * Answers a push: receives the objects, has the registry check them, and reports the outcome of each ref. Acquires its permit once the
 * whole body has arrived.
 */
export async function respondToPush(
  ctx: AuthenticatedContext,
  registry: Registry,
  artifact: ArtifactView,
  { spools, acquire }: GitRoom,
  settings: PushSettings,
): Promise<void> {
  const signal = clientAbort(ctx.res)
  const spool = spools.open({ inMemory: true })
  const lines = new PktReader(
    inflatedBody(ctx.req, settings.maxBytes + COMMAND_BYTES, () => tooLarge(settings)),
  )
  try {
    ctx.type = 'application/x-git-receive-pack-result'
    const request = await readPush(lines)
    // A client that only checks its access sends no commands.
    if (request.commands.length === 0) {
      ctx.body = Buffer.alloc(0)
      return
    }
    const lost = lostOf(request)
    if (lost) {
      ctx.body = pushResponse(lost, request.capabilities)
      return
    }
    const pack = await spooled(spool, lines.rest())
    const release = await acquire(signal)
    try {
      const report = await takeIn(ctx.state, registry, artifact, request, {
        bytes: pack.chunks(),
        maxBytes: settings.maxBytes,
        maxBlobBytes: settings.maxBlobBytes,
        signal,
      })
      ctx.body = pushResponse(report, request.capabilities)
    } finally {
      release()
    }
  } finally {
    spool.discard()
    await lines.end()
  }
}

/** The report of a push that cannot move any ref, whatever its objects are. */
function lostOf({ commands, capabilities, refused }: PushRequest): PushReport | undefined {
  if (refused) return { unpackError: refused.reason, outcomes: commands.map(({ ref }) => ({ ref, refused })) }
  const outcomes = commands.map(judged)
  const isLost = capabilities.has('atomic')
    ? outcomes.some((it) => it.refused)
    : outcomes.every((it) => it.refused)
  return isLost
    ? { outcomes: outcomes.map((it) => (it.refused ? it : { ...it, refused: ATOMIC })) }
    : undefined
}

async function takeIn(
  { caller }: AuthenticatedContext['state'],
  registry: Registry,
  artifact: ArtifactView,
  { commands, capabilities }: PushRequest,
  { maxBlobBytes, ...pack }: PackStream & PushLimits,
): Promise<PushReport> {
  const outcomes = commands.map(judged)
  const isAtomic = capabilities.has('atomic')
  let incoming: IncomingObjects
  try {
    incoming = await artifact.repository.receive(pack)
  } catch (error) {
    const refused = refRefusalOf(error)
    return {
      unpackError: refused.reason,
      outcomes: outcomes.map((it) => (it.refused ? it : { ...it, refused })),
    }
  }
  try {
    const { id, name, email } = caller.key
    const push = {
      // Only deletions have no target, and those were refused.
      commands: commands.flatMap((it, index) =>
        outcomes[index]?.refused || it.target === undefined ? [] : [{ ...it, target: it.target }],
      ),
      incoming,
      isAtomic,
      limits: { maxBlobBytes },
      pusher: principalOf(caller.key),
      mayRead: caller.may.read,
      signal: pack.signal,
    }
    const actor = { id, name, email, mayDeploy: caller.may.deploy }
    const accepted = await acceptPush(registry, artifact, push, { actor })
    counts.pushes++
    const byRef = new Map(accepted.map((outcome) => [outcome.ref, outcome]))
    return { outcomes: outcomes.map((outcome) => byRef.get(outcome.ref) ?? outcome) }
  } finally {
    incoming.discard()
  }
}

const ATOMIC = { reason: 'atomic push failed', sentence: 'No ref has moved, because not all of them could.' }

function judged(command: RefCommand): RefOutcome {
  const { ref } = command
  try {
    checkRefCommand(command)
    return { ref }
  } catch (error) {
    return { ref, refused: refRefusalOf(error) }
  }
}

function tooLarge({ maxBytes }: PushSettings): Refusal {
  return new Refusal(
    'limit_exceeded',
    `The push is larger than ${maxBytes} bytes. Push fewer commits at once, or ask the operator for a higher limit.`,
    { details: { limit: maxBytes } },
  )
}

/** The report of a push. */
interface PushReport {
  readonly outcomes: readonly RefOutcome[]
  /** Why the objects were not accepted at all; a short text. */
  readonly unpackError?: string | undefined
}

/**
 * The response to a push in the format of its capabilities (report-status, side-band-64k): each ref's outcome, and sentences for the
 * terminal, where git adds `remote: ` before each line.
 */
function pushResponse(report: PushReport, capabilities: ReadonlySet<string>): Buffer {
  const status = capabilities.has('report-status') ? statusOf(report) : Buffer.alloc(0)
  if (!capabilities.has('side-band-64k')) return status
  const all = sentences(report, capabilities.has('quiet'))
  const said = all.slice(0, MOST_SENTENCES).join('') + more(all.length - MOST_SENTENCES)
  return Buffer.concat([onBand(2, Buffer.from(said)), onBand(1, status), FLUSH])
}

/** Maximum sentences for the terminal. */
const MOST_SENTENCES = 1000

function more(count: number): string {
  return count > 0 ? `… and ${count} more\n` : ''
}

/** gitprotocol-pack(5), report-status. */
function statusOf({ outcomes, unpackError }: PushReport): Buffer {
  const lines = outcomes.map(({ ref, refused }) =>
    pktLine(refused ? `ng ${ref} ${onOneLine(refused.reason)}\n` : `ok ${ref}\n`),
  )
  return Buffer.concat([
    pktLine(`unpack ${unpackError === undefined ? 'ok' : onOneLine(unpackError)}\n`),
    ...lines,
    FLUSH,
  ])
}

/** Each sentence once, on its own line; with `quiet`, only warnings about accepted refs. */
function sentences({ outcomes }: PushReport, isQuiet: boolean): string[] {
  const said = new Set<string>()
  for (const { refused, revision, warnings = [] } of outcomes) {
    if (refused) said.add(`${onOneLine(refused.sentence)}\n`)
    else if (revision && !isQuiet) said.add(`${revision.slug} is revision ${revision.id}\n`)
    for (const { code, message } of warnings) said.add(`warning: ${code}: ${onOneLine(message)}\n`)
  }
  return [...said]
}

/** A sentence may quote pushed content, which must not control the terminal. */
function onOneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
}

/** The part of a push's body before the pack (gitprotocol-pack(5)). */
interface PushRequest {
  readonly commands: readonly RefCommand[]
  readonly capabilities: ReadonlySet<string>
  /** Why the whole push is refused; the rest was not read then. */
  readonly refused?: RefRefusal
}

/** Maximum refs of a push. */
const MOST_COMMANDS = 10_000

/**
 * Reads the commands of a push. Refuses (`contradictory_request`) malformed lines and a ref named twice; stops reading if there are too
 * many.
 */
async function readPush(lines: PktReader): Promise<PushRequest> {
  const commands = new Map<string, RefCommand>()
  let capabilities: ReadonlySet<string> = new Set()
  for (let line = await lines.next(); line !== undefined && line !== 'flush'; line = await lines.next()) {
    const [text = '', after] = line.toString('utf8').replace(/\n$/, '').split('\0')
    // The server has the whole history, so the borders of a shallow clone do not matter.
    if (text.startsWith('shallow ')) continue
    if (after !== undefined) capabilities = new Set(after.split(' ').filter(Boolean))
    const [, before = '', next = '', ref = ''] = COMMAND.exec(text) ?? []
    if (ref === '') throw malformed(`"${text.slice(0, 200)}" is no command`)
    if (commands.has(ref)) throw malformed(`${ref} is named twice`)
    if (commands.size === MOST_COMMANDS) return { ...answerOf(commands, capabilities), refused: TOO_MANY }
    commands.set(ref, { ref, expected: oidOf(before), target: oidOf(next) })
  }
  return answerOf(commands, capabilities)
}

function answerOf(
  commands: ReadonlyMap<string, RefCommand>,
  capabilities: PushRequest['capabilities'],
): PushRequest {
  return { commands: [...commands.values()], capabilities }
}

const TOO_MANY: RefRefusal = {
  reason: 'too many refs',
  sentence: `The push names more than ${MOST_COMMANDS} refs. Push fewer branches and tags at once, and the others after them.`,
}

const COMMAND = /^([0-9a-f]{40}) ([0-9a-f]{40}) ([^ ]+)$/
const NOTHING = '0'.repeat(40)

function oidOf(digits: string): Oid | undefined {
  return digits === NOTHING ? undefined : digits
}

function malformed(why: string): Refusal {
  return new Refusal('contradictory_request', `The push cannot be read: ${why}. Use git push.`)
}

/** Reads pkt-lines from a body, then the rest unchanged. Refuses (`contradictory_request`) malformed lines. */
class PktReader {
  readonly #source: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** The next line's content, 'flush' for a flush packet, undefined at the end of the body. */
  async next(): Promise<Buffer | 'flush' | undefined> {
    if (!(await this.#have(4))) {
      if (this.#rest.length === 0) return undefined
      throw malformedOfPktReader()
    }
    const digits = this.#rest.toString('latin1', 0, 4)
    const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : -1
    if (length !== 0 && (length < 4 || !(await this.#have(length)))) throw malformedOfPktReader()
    const content = this.#rest.subarray(4, length)
    this.#rest = this.#rest.subarray(length || 4)
    return length === 0 ? 'flush' : content
  }

  /** The rest of the body after the lines. */
  async *rest(): AsyncGenerator<Buffer> {
    try {
      if (this.#rest.length > 0) yield this.#rest
      for (let next = await this.#source.next(); !next.done; next = await this.#source.next())
        yield next.value
    } finally {
      await this.end()
    }
  }

  /** Discards the rest of the body. */
  async end(): Promise<void> {
    await this.#source.return?.()
  }

  async #have(length: number): Promise<boolean> {
    while (this.#rest.length < length) {
      const next = await this.#source.next()
      if (next.done) return false
      this.#rest = Buffer.concat([this.#rest, next.value])
    }
    return true
  }
}

function malformedOfPktReader(): Refusal {
  return new Refusal(
    'contradictory_request',
    'The body is not what a git client sends: its lines are cut off or do not say how long they are. Use git push.',
  )
}
