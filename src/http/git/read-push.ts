import { Refusal } from '../../errors.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { RefCommand, RefRefusal } from '../../versioning/push/ref-command.ts'
import type { PktReader } from './pkt-reader.ts'

/** What stands before the pack in the body of a push (gitprotocol-pack(5)). */
export interface PushRequest {
  readonly commands: readonly RefCommand[]
  readonly capabilities: ReadonlySet<string>
  /** Why none of it is done; what follows was not read then. */
  readonly refused?: RefRefusal
}

/** More refs than this nobody pushes at once. */
const MOST_COMMANDS = 10_000

/**
 * Reads the commands of a push, up to their end. Refuses (`contradictory_request`) lines that are none and a ref that is named
 * twice; of more than a push may have it reads no further.
 */
export async function readPush(lines: PktReader): Promise<PushRequest> {
  const commands = new Map<string, RefCommand>()
  let capabilities: ReadonlySet<string> = new Set()
  for (let line = await lines.next(); line !== undefined && line !== 'flush'; line = await lines.next()) {
    const [text = '', after] = line.toString('utf8').replace(/\n$/, '').split('\0')
    // Where the clone is shallow makes no difference to who has the whole history.
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
