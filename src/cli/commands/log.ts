import { textFrom } from '../command/ask-server.ts'
import { countOf, authorName, serverOf, showTable, wordsOf } from '../command/at-server.ts'
import { SERVER_USAGE } from '../command/chosen-server.ts'
import type { Command, Shell } from '../command/command.ts'
import {
  findArtifact,
  NAME_USAGE,
  parseName,
  referencesOf,
  retrieve,
  type Revision,
} from '../command/names.ts'
import { readArguments } from '../command/read-arguments.ts'
import { shownTime } from '../command/terminal.ts'
import { VERBS } from '../command/verbs.ts'

const USAGE = `branchpoint log NAME [--limit N] [--json]

  Lists the versions of a variant, newest first: who wrote them, when and why. NAME@3 begins at version 3.

${NAME_USAGE}
  --limit        how many at most (100)
  --json         prints the server's answer
${SERVER_USAGE}

Example:
  branchpoint log support-bot:warmer --limit 5`

/** The command `log`: the versions of a variant. */
export const logCommand: Command = { usage: USAGE, needsWords: true, run }

const DEFAULT_LIMIT = 100

type Answer = Readonly<Record<string, readonly Revision[]>> & { readonly windowing?: object }

async function run(args: readonly string[], shell: Shell): Promise<number> {
  const { values, positionals } = readArguments(args, VERBS.log.options, { usage: USAGE })
  const [word = ''] = wordsOf(
    positionals,
    { least: 1, missing: 'Name one prompt, or another artifact.' },
    USAGE,
  )
  const name = parseName(word, USAGE)
  const limit = countOf(values.limit, DEFAULT_LIMIT, '--limit', USAGE)
  const server = await serverOf(values, shell, USAGE)
  const isRevision = name.version !== undefined || name.environment !== undefined
  const begin = isRevision ? await retrieve(server, name) : { artifact: await findArtifact(server, name) }
  const { path, singular } = begin.artifact.kind
  const start =
    'revision' in begin
      ? { [`${singular}_revision_ref`]: { id: begin.revision.id } }
      : referencesOf(begin.artifact, name)
  const body = { ...start, windowing: { limit } }
  const text = await textFrom(server, 'POST', `/${path}/revisions/log`, { body })
  const answer = JSON.parse(text) as Answer
  if (values.json) await shell.show(text)
  else {
    const rows = (answer[`${singular}_revisions`] ?? []).map(({ version, date, author, subject }) => [
      `@${version}`,
      shownTime(date, shell.terminal),
      authorName(author),
      subject,
    ])
    await showTable(
      shell,
      ['VERSION', 'WHEN', 'WHO', 'WHAT'],
      rows,
      `"${begin.artifact.slug}" has no version yet.`,
    )
  }
  if (answer.windowing) shell.progress.write(`There is more: --limit ${2 * limit} shows it.\n`)
  return 0
}
