import { z } from 'zod'
import { chosenServer } from '../command/chosen-server.ts'
import type { Command, Shell } from '../command/command.ts'
import { jsonLines } from '../command/json-lines.ts'
import { readArguments } from '../command/read-arguments.ts'
import { UsageError } from '../command/usage-error.ts'
import { VERBS } from '../command/verbs.ts'
import { ask, doorTo } from '../backup/ends/door.ts'

const SEARCH_USAGE = `branchpoint search WORDS [options]

  Finds artifacts, revisions and rows by the words of their names, descriptions, tags, messages and data, the best first.

  WORDS       all of them must be there; '"side by side"' is a phrase, begin* a prefix, and behind -- a -word leaves out what has it
  --kind      application, evaluator, workflow, testset, environment, query or row; once or several times (all)
  --history   older revisions, too
  --archived  what is archived, too
  --limit     how many at most (20)
  --json      prints a hit a line
  --url, --key  the server and an API key with the scope read; BRANCHPOINT_URL (http://127.0.0.1:3000 unless set) and
                BRANCHPOINT_KEY unless given

  Exit code 0: something was found; 1: nothing was.`

const DEFAULT_LIMIT = 20

const placeOfHit = z.union([
  z.string(),
  z.object({ header: z.string() }),
  z.object({ row: z.string(), column: z.string() }),
])

const answer = z.object({
  hits: z.array(
    z.looseObject({
      kind: z.string(),
      artifact: z.object({ slug: z.string() }),
      revision: z.object({ version: z.union([z.number(), z.string()]), slug: z.string() }).optional(),
      field: z.string(),
      place: placeOfHit.optional(),
      excerpt: z.string(),
    }),
  ),
  windowing: z.object({ next: z.string() }).partial().optional(),
})

export const searchCommand: Command = { usage: SEARCH_USAGE, needsWords: true, run }

async function run(
  args: readonly string[],
  { environment, signal, print, progress }: Shell,
): Promise<number> {
  const { values, positionals } = readArguments(args, VERBS.search.options, { usage: SEARCH_USAGE })
  if (positionals.length === 0) throw new UsageError('Say what to look for.', SEARCH_USAGE)
  const limit = Number(values.limit ?? DEFAULT_LIMIT)
  if (!Number.isInteger(limit) || limit < 1)
    throw new UsageError(`--limit: "${values.limit}" is not a whole number of 1 or more.`, SEARCH_USAGE)
  const { url, key } = chosenServer(values, environment, SEARCH_USAGE)
  const query = {
    query: positionals.join(' '),
    kinds: values.kind,
    include_history: values.history,
    include_archived: values.archived,
    windowing: { limit },
  }
  const found = answer.parse(await ask(doorTo(url, key, signal), 'POST', '/search', JSON.stringify(query)))
  if (found.hits.length > 0) print(values.json ? jsonLines(found.hits) : found.hits.map(told).join('\n'))
  if (found.windowing?.next !== undefined) progress.write(`There is more: --limit ${2 * limit} shows it.\n`)
  return found.hits.length > 0 ? 0 : 1
}

/** A hit in two lines: the revision and the place, then the excerpt. */
function told({
  kind,
  artifact,
  revision,
  field,
  place,
  excerpt,
}: z.infer<typeof answer>['hits'][number]): string {
  const version = revision ? ` ${revision.slug} (version ${revision.version})` : ''
  const where = typeof place === 'string' ? ` ${place}` : placeInRow(place)
  return `${kind} ${artifact.slug}${version}: ${field}${where}\n    ${excerpt}`
}

function placeInRow(place: Exclude<z.infer<typeof placeOfHit>, string> | undefined): string {
  return place && 'row' in place ? ` row ${place.row}, column ${place.column}` : ''
}
