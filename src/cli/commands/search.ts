import { folderOfLimit } from '../../base/folders.ts'
import { serverOf, countOf } from '../command/at-server.ts'
import { textFrom } from '../command/ask-server.ts'
import { SERVER_USAGE } from '../command/chosen-server.ts'
import type { Command, Shell } from '../command/command.ts'
import { assertOneForm, jsonLines } from '../command/json-lines.ts'
import { readArguments } from '../command/read-arguments.ts'
import { oneLine, paint, type Terminal } from '../command/terminal.ts'
import { UsageError } from '../command/usage-error.ts'
import { VERBS } from '../command/verbs.ts'

const SEARCH_USAGE = `branchpoint search WORDS [options]

  Finds artifacts, revisions and rows by the words of their names, descriptions, tags, messages and data, the best first.

  WORDS       all of them must be there; '"side by side"' is a phrase, begin* a prefix, and behind -- a -word leaves out what has it
  --kind      application, evaluator, workflow, testset, environment, query or row; once or several times (all)
  --folder    only what lies in this folder: support; with /** also what lies below it: 'support/**'
  --history   older revisions, too
  --archived  what is archived, too
  --limit     how many at most (20)
  --json      prints the server's answer; --jsonl a hit a line
${SERVER_USAGE}

  Exit code 0: something was found; 1: nothing was.

Example:
  branchpoint search capital of --kind application`

const DEFAULT_LIMIT = 20

interface Hit {
  readonly kind: string
  readonly artifact: { readonly slug: string }
  readonly revision?: { readonly version: number | string; readonly slug: string }
  readonly field: string
  readonly place?: string | { readonly header: string } | { readonly row: string; readonly column: string }
  readonly excerpt: string
  readonly ranges?: readonly (readonly [number, number])[]
}

interface Answer {
  readonly hits: readonly Hit[]
  readonly windowing?: { readonly next?: string }
}

export const searchCommand: Command = { usage: SEARCH_USAGE, needsWords: true, run }

async function run(args: readonly string[], shell: Shell): Promise<number> {
  const { values, positionals } = readArguments(args, VERBS.search.options, { usage: SEARCH_USAGE })
  if (positionals.length === 0) throw new UsageError('Say what to look for.', SEARCH_USAGE)
  assertOneForm(values, SEARCH_USAGE)
  const limit = countOf(values.limit, DEFAULT_LIMIT, '--limit', SEARCH_USAGE)
  const server = await serverOf(values, shell, SEARCH_USAGE)
  const body = {
    query: positionals.join(' '),
    kinds: values.kind,
    ...folderOf(values.folder),
    include_history: values.history,
    include_archived: values.archived,
    windowing: { limit },
  }
  const text = await textFrom(server, 'POST', '/search', { body })
  const { hits, windowing } = JSON.parse(text) as Answer
  if (values.json) await shell.show(text)
  else if (hits.length > 0)
    await shell.show(values.jsonl ? jsonLines(hits) : hits.map((hit) => told(hit, shell.terminal)).join('\n'))
  if (windowing?.next !== undefined) shell.progress.write(`There is more: --limit ${2 * limit} shows it.\n`)
  return hits.length > 0 ? 0 : 1
}

/** `support` or `support/**`, as keys have them. */
function folderOf(entry: string | undefined): object {
  if (entry === undefined) return {}
  return { folder: folderOfLimit(entry), recursive: folderOfLimit(entry) !== entry }
}

/** A hit in two lines: the revision and the place, then the excerpt with what was found in it. */
function told(
  { kind, artifact, revision, field, place, excerpt, ranges = [] }: Hit,
  terminal: Terminal,
): string {
  const version = revision ? ` ${revision.slug} (version ${revision.version})` : ''
  const where = typeof place === 'string' ? ` ${place}` : placeInRow(place)
  let shown = ''
  let from = 0
  for (const [start, end] of ranges) {
    shown += oneLine(excerpt.slice(from, start)) + paint(terminal, 'bold', oneLine(excerpt.slice(start, end)))
    from = end
  }
  return `${kind} ${artifact.slug}${version}: ${field}${where}\n    ${shown}${oneLine(excerpt.slice(from))}`
}

function placeInRow(place: Exclude<Hit['place'], string>): string {
  return place && 'row' in place ? ` row ${place.row}, column ${place.column}` : ''
}
