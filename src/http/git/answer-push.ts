import { principalOf } from '../../access/caller.ts'
import { grants } from '../../access/scope.ts'
import { counts } from '../../metrics/counters.ts'
import { Refusal } from '../../errors.ts'
import type { IncomingObjects } from '../../git/receive/incoming-objects.ts'
import type { PackStream } from '../../git/receive/index-pack.ts'
import { acceptPush } from '../../versioning/push/accept-push.ts'
import type { ArtifactView } from '../../versioning/artifacts/artifact-view.ts'
import type { PushLimits } from '../../versioning/push/check-pushed-objects.ts'
import { checkRefCommand } from '../../versioning/push/check-ref-command.ts'
import type { RefCommand, RefOutcome } from '../../versioning/push/ref-command.ts'
import { refRefusalOf } from '../../versioning/push/ref-command.ts'
import type { Registry } from '../../versioning/registry.ts'
import { inflatedBody } from '../body/inflate-body.ts'
import type { AuthenticatedContext } from '../request-state.ts'
import { clientAbort } from '../routing/client-abort.ts'
import { PktReader } from './pkt-reader.ts'
import { spooled } from '../body/spool.ts'
import type { GitRoom } from './git-room.ts'
import type { PushReport } from './push-answer.ts'
import { pushResponse } from './push-answer.ts'
import type { PushRequest } from './read-push.ts'
import { readPush } from './read-push.ts'

/** What a push may be. */
export interface PushSettings extends PushLimits {
  /** Bytes of all it brings, as they come in. */
  readonly maxBytes: number
}

/** The commands of the largest push are shorter than this. */
const COMMAND_BYTES = 4 * 1024 * 1024

/**
 * Answers a push: receives the objects, has the registry accept them or not, and tells of each ref what became of it. It takes its permit
 * once all of it is there.
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
    // A client that wants to know whether it is let in sends nothing.
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

/** What is told of a push of which no ref can move, whatever its objects are. */
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
    const { id, name, email, scopes } = caller.key
    const push = {
      // Only deletions have no target, and those were refused.
      commands: commands.flatMap((it, index) =>
        outcomes[index]?.refused || it.target === undefined ? [] : [{ ...it, target: it.target }],
      ),
      incoming,
      isAtomic,
      limits: { maxBlobBytes },
      pusher: principalOf(caller.key),
      mayRead: grants(scopes, 'read'),
      signal: pack.signal,
    }
    const actor = { id, name, email, mayDeploy: grants(scopes, 'deploy') }
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
