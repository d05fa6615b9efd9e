import { z } from 'zod'
import { chosenServer } from '../command/chosen-server.ts'
import type { Command, Shell } from '../command/command.ts'
import { jsonLines } from '../command/json-lines.ts'
import { readArguments } from '../command/read-arguments.ts'
import { textTable } from '../command/text-table.ts'
import { UsageError } from '../command/usage-error.ts'
import { VERBS } from '../command/verbs.ts'
import { ask, doorTo } from '../backup/ends/door.ts'

const BLAME_USAGE = `branchpoint blame WORKFLOW [PLACE] [options]

  Prints the lines of a text of a prompt, each with the commit that wrote it.

  WORKFLOW    the slug of a workflow, an application or an evaluator
  PLACE       where the text is in its data, as a JSON Pointer; what the first message says, unless given
  --variant   the slug of a variant (the default one)
  --version   of that variant (the latest)
  --json      prints a line of JSON a line
  --url, --key  the server and an API key with the scope read; BRANCHPOINT_URL (http://127.0.0.1:3000 unless set) and
                BRANCHPOINT_KEY unless given`

const FIRST_MESSAGE = '/parameters/prompt/messages/0/content'

const retrieved = z.object({ workflow_revision: z.object({ id: z.string() }) })
const answer = z.object({
  lines: z.array(
    z.looseObject({
      line: z.number(),
      text: z.string(),
      commit: z.string(),
      author: z.string(),
      date: z.string(),
    }),
  ),
  truncated: z.boolean().optional(),
})

export const blameCommand: Command = { usage: BLAME_USAGE, needsWords: true, run }

async function run(
  args: readonly string[],
  { environment, signal, print, progress }: Shell,
): Promise<number> {
  const { values, positionals } = readArguments(args, VERBS.blame.options, { usage: BLAME_USAGE })
  const [slug, place = FIRST_MESSAGE, ...more] = positionals
  if (slug === undefined || more.length > 0)
    throw new UsageError('Name one workflow, and one place.', BLAME_USAGE)
  const { url, key } = chosenServer(values, environment, BLAME_USAGE)
  const door = doorTo(url, key, signal)
  const reference = {
    workflow_ref: { slug },
    ...(values.variant === undefined ? {} : { workflow_variant_ref: { slug: values.variant } }),
    ...(values.version === undefined ? {} : { workflow_revision_ref: { version: values.version } }),
  }
  const revision = retrieved.parse(
    await ask(door, 'POST', '/workflows/revisions/retrieve', JSON.stringify(reference)),
  )
  const path = `/workflows/revisions/${revision.workflow_revision.id}/blame?place=${encodeURIComponent(place)}`
  const { lines, truncated } = answer.parse(await ask(door, 'GET', path))
  const rows = lines.map(({ line, text, commit, author, date }) => [
    commit.slice(0, 8),
    nameOf(author),
    date.slice(0, 10),
    `${line})`,
    text,
  ])
  if (rows.length > 0) print(values.json ? jsonLines(lines) : textTable(rows))
  if (truncated) progress.write(`There is more: only the first ${lines.length} lines are answered.\n`)
  return 0
}

/** The name in `Ann <ann@example.com>`. */
function nameOf(author: string): string {
  return author.replace(/ <[^<>]*>$/, '')
}
