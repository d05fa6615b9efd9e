import {
  getKey,
  getPath,
  isJsonArray,
  isJsonObject,
  type Json,
  parseJson,
  stringifyJson,
} from '../../base/json.ts'
import { Refusal } from '../../errors.ts'
import { serverOf, wordsOf } from '../command/at-server.ts'
import { SERVER_USAGE } from '../command/chosen-server.ts'
import type { Command, Shell } from '../command/command.ts'
import { NAME_USAGE, parseName, retrieve } from '../command/names.ts'
import { readArguments } from '../command/read-arguments.ts'
import { harmless } from '../command/terminal.ts'
import { VERBS } from '../command/verbs.ts'

const USAGE = `branchpoint get NAME [--message ROLE|NUMBER] [--json]

  Prints a prompt: the text of its message, or each message with its role before it. What has no messages is printed as JSON.

${NAME_USAGE}
  --message      only the messages of this role (system, user …), or the message of this number, from 1 on
  --json         prints the server's answer
${SERVER_USAGE}

Example:
  branchpoint get support-bot@production --message system`

/** The command `get`: what a name means, as text. */
export const getCommand: Command = { usage: USAGE, needsWords: true, run }

async function run(args: readonly string[], shell: Shell): Promise<number> {
  const { values, positionals } = readArguments(args, VERBS.get.options, { usage: USAGE })
  const [word = ''] = wordsOf(
    positionals,
    { least: 1, missing: 'Name one prompt, or another artifact.' },
    USAGE,
  )
  const name = parseName(word, USAGE)
  const { artifact, text } = await retrieve(await serverOf(values, shell, USAGE), name, { withRows: true })
  const shown = values.json ? text : contentOf(parseJson(text), artifact.kind.singular, values.message)
  await shell.show(shell.terminal.isTTY ? harmless(shown) : shown)
  return 0
}

/** The messages of the answer as text, or its data as JSON. */
function contentOf(answer: Json, singular: string, wanted: string | undefined): string {
  const data = getPath(answer, `${singular}_revision`, 'data') ?? null
  const messages = getPath(data, 'parameters', 'prompt', 'messages') ?? []
  const all = isJsonArray(messages) ? messages.filter(isJsonObject) : []
  const isWhole = wanted === undefined
  const chosen = isWhole
    ? all
    : all.filter((message, at) => getKey(message, 'role') === wanted || String(at + 1) === wanted)
  if (!isWhole && chosen.length === 0) {
    const roles = all.map((message) => String(getKey(message, 'role')))
    const known = roles.length > 0 ? `its messages are ${roles.join(', ')}` : 'it has no messages'
    throw new Refusal('invalid_request', `--message: there is no message "${wanted}"; ${known}.`)
  }
  if (all.length === 0) return stringifyJson(data, 2)
  const texts = chosen.map((message) => textOf(message))
  if (!isWhole || all.length === 1) return texts.join('\n\n')
  return chosen.map((message, at) => `${String(getKey(message, 'role'))}:\n${texts[at]}`).join('\n\n')
}

/** The text of a message, the name of a placeholder; else what it holds besides its role, as JSON. */
function textOf(message: Json): string {
  const content = getPath(message, 'content')
  const name = getPath(message, 'name')
  if (getPath(message, 'role') === 'placeholder' && typeof name === 'string') return name
  if (typeof content === 'string') return content
  if (!isJsonArray(content)) return stringifyJson(message, 2)
  const parts = content.map((part) => getPath(part, 'text') ?? stringifyJson(part, 2))
  return parts.map(String).join('\n')
}
