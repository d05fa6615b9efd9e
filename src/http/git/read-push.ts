import { Refusal } from '../../errors.ts'
import type { Oid } from '../../git/object.ts'
import type { RefCommand } from '../../versioning/push.ts'
import type { PktReader } from './pkt-reader.ts'

/** What stands before the pack in the body of a push (gitprotocol-pack(5)). */
export interface PushRequest {
  readonly commands: readonly RefCommand[]
  readonly capabilities: ReadonlySet<string>
}

/** More refs than this nobody pushes at once. */
const MOST_COMMANDS = 10_000

/**
 * Reads the commands of a push, up to their end. Refuses (`contradictory_request`) lines that are none, a ref that is named
 * twice, and more than a push may have.
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
    if (commands.size === MOST_COMMANDS) throw malformed(`it names more than ${MOST_COMMANDS} refs`)
    commands.set(ref, { ref, expected: oidOf(before), target: oidOf(next) })
  }
  return { commands: [...commands.values()], capabilities }
}

const COMMAND = /^([0-9a-f]{40}) ([0-9a-f]{40}) ([^ ]+)$/
const NOTHING = '0'.repeat(40)

function oidOf(digits: string): Oid | undefined {
  return digits === NOTHING ? undefined : digits
}

function malformed(why: string): Refusal {
  return new Refusal('contradictory_request', `The push cannot be read: ${why}. Use git push.`)
}
