import { authorName, serverOf, wordsOf } from '../command/at-server.ts'
import { textFrom } from '../command/ask-server.ts'
import { SERVER_USAGE } from '../command/chosen-server.ts'
import type { Command, Shell } from '../command/command.ts'
import { assertOneForm, jsonLines } from '../command/json-lines.ts'
import { NAME_USAGE, parseName, retrieve } from '../command/names.ts'
import { readArguments } from '../command/read-arguments.ts'
import { harmless } from '../command/terminal.ts'
import { textTable } from '../command/text-table.ts'
import { UsageError } from '../command/usage-error.ts'
import { VERBS } from '../command/verbs.ts'

const BLAME_USAGE = `branchpoint blame NAME [PLACE] [options]

  Prints the lines of a text of a prompt, each with the commit that wrote it.

${NAME_USAGE}
  PLACE          where the text is in its data, as a JSON Pointer; what the first message says, unless given
  --variant      the slug of a variant, as in NAME:variant
  --version      of that variant, as in NAME@version
  --json         prints the server's answer; --jsonl a record for each line
${SERVER_USAGE}

Example:
  branchpoint blame support-bot@production /parameters/prompt/messages/1/content`

const FIRST_MESSAGE = '/parameters/prompt/messages/0/content'

interface Answer {
  readonly lines: readonly {
    readonly line: number
    readonly text: string
    readonly commit: string
    readonly author: string
    readonly date: string
  }[]
  readonly truncated?: boolean
}

export const blameCommand: Command = { usage: BLAME_USAGE, needsWords: true, run }

async function run(args: readonly string[], shell: Shell): Promise<number> {
  const { values, positionals } = readArguments(args, VERBS.blame.options, { usage: BLAME_USAGE })
  const needed = { least: 1, most: 2, missing: 'Name one prompt, and one place.' }
  const [word = '', place = FIRST_MESSAGE] = wordsOf(positionals, needed, BLAME_USAGE)
  assertOneForm(values, BLAME_USAGE)
  const named = parseName(word, BLAME_USAGE)
  const version = values.version === undefined ? named.version : Number(values.version)
  if (version !== undefined && !(Number.isInteger(version) && version >= 1))
    throw new UsageError(`--version: "${values.version}" is not a version.`, BLAME_USAGE)
  const server = await serverOf(values, shell, BLAME_USAGE)
  const name = { ...named, variant: values.variant ?? named.variant, version }
  const { artifact, revision } = await retrieve(server, name)
  const path = `/${artifact.kind.path}/revisions/${revision.id}/blame?place=${encodeURIComponent(place)}`
  const text = await textFrom(server, 'GET', path)
  const { lines, truncated } = JSON.parse(text) as Answer
  const rows = lines.map(({ line, text: written, commit, author, date }) => [
    commit.slice(0, 8),
    authorName(author),
    date.slice(0, 10),
    `${line})`,
    harmless(written),
  ])
  if (values.json) await shell.show(text)
  else if (rows.length > 0) await shell.show(values.jsonl ? jsonLines(lines) : textTable(rows))
  if (truncated) shell.progress.write(`There is more: only the first ${lines.length} lines are answered.\n`)
  return 0
}
