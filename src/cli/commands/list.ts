import { askServer, textFrom } from '../command/ask-server.ts'
import { countOf, serverOf, showTable, wordsOf } from '../command/at-server.ts'
import { type ChosenServer, SERVER_USAGE } from '../command/chosen-server.ts'
import type { Command, Shell } from '../command/command.ts'
import { KINDS } from '../command/names.ts'
import { readArguments, unknownWord } from '../command/read-arguments.ts'
import { shownTime } from '../command/terminal.ts'
import { VERBS } from '../command/verbs.ts'

const USAGE = `branchpoint list [prompts|evaluators|testsets|environments|queries] [--limit N] [--archived] [--json]

  Lists what a project has, the last changed first; prompts unless another kind is given.

  --limit        how many at most (100)
  --archived     what is archived, too
  --json         prints the server's answer
${SERVER_USAGE}

Example:
  branchpoint list evaluators --limit 5`

/** The command `list`: the artifacts of a kind. */
export const listCommand: Command = { usage: USAGE, run }

const DEFAULT_LIMIT = 100

interface Listed {
  readonly id: string
  readonly slug: string
  readonly name?: string
  readonly created_at: string
  readonly updated_at?: string
  readonly deleted_at?: string
  /** The newest version. */
  readonly latest?: { readonly date?: string }
}

type Answer = Readonly<Record<string, readonly Listed[]>> & { readonly windowing?: object }

async function run(args: readonly string[], shell: Shell): Promise<number> {
  const { values, positionals } = readArguments(args, VERBS.list.options, { usage: USAGE })
  const [word = 'prompts'] = wordsOf(positionals, { least: 0, most: 1, missing: '' }, USAGE)
  const known = VERBS.list.words.find((it) => it === word)
  if (known === undefined) throw unknownWord(word, VERBS.list.words, USAGE)
  const { path, one } = KINDS[known]
  const limit = countOf(values.limit, DEFAULT_LIMIT, '--limit', USAGE)
  const server = await serverOf(values, shell, USAGE)
  const body = {
    include_archived: values.archived ?? false,
    // What is printed as JSON is the plain record.
    include_latest: !values.json,
    windowing: { limit, order: '-updated' },
  }
  const [text, deployed] = await Promise.all([
    textFrom(server, 'POST', `/${path}/query`, { body }),
    values.json || path === 'environments' ? NONE : deployments(server),
  ])
  const answer = JSON.parse(text) as Answer
  if (values.json) await shell.show(text)
  else {
    const isDeployable = deployed.size > 0 && DEPLOYED.has(path)
    const rows = (answer[path] ?? []).map((it) => [
      it.slug,
      it.name,
      ...(isDeployable ? [deployed.get(it.id)?.join(', ')] : []),
      shownTime(changedAt(it), shell.terminal),
      ...(values.archived ? [it.deleted_at === undefined ? '' : 'archived'] : []),
    ])
    const titles = ['NAME', 'TITLE', ...(isDeployable ? ['DEPLOYED'] : []), 'CHANGED']
    const state = values.archived ? ['STATE'] : []
    await showTable(shell, [...titles, ...state], rows, `There are no ${known}: no ${one} is in the project.`)
  }
  if (answer.windowing) shell.progress.write(`There is more: --limit ${2 * limit} shows it.\n`)
  return 0
}

/** When its record was edited last, or its newest version was made: the later of the two, by which the list is ordered. */
function changedAt({ created_at: created, updated_at: edited = created, latest }: Listed): string {
  const committed = latest?.date ?? created
  return Date.parse(committed) > Date.parse(edited) ? committed : edited
}

const NONE: ReadonlyMap<string, readonly string[]> = new Map()
const DEPLOYED: ReadonlySet<string> = new Set(['applications', 'evaluators'])

/** What runs where, by the id of the artifact: `production @3`. */
async function deployments(server: ChosenServer): Promise<ReadonlyMap<string, readonly string[]>> {
  interface Deployed {
    readonly environment: { readonly slug: string }
    readonly artifact?: { readonly id: string }
    readonly revision?: { readonly version: number | string }
  }
  const answer = await askServer<{ readonly deployments: readonly Deployed[] }>(
    server,
    'POST',
    '/deployments/query',
    { body: {} },
  )
  const found = new Map<string, string[]>()
  for (const { environment, artifact, revision } of answer.deployments) {
    if (!artifact || !revision) continue
    const shown = `${environment.slug} @${revision.version}`
    found.set(artifact.id, [...(found.get(artifact.id) ?? []), shown])
  }
  return found
}
