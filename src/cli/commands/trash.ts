import { COMMAND } from '../../command-name.ts'
import { Refusal } from '../../errors.ts'
import { askServer, projectOfKey, textFrom } from '../command/ask-server.ts'
import { type ChosenServer, chosenServer, SERVER_USAGE } from '../command/chosen-server.ts'
import type { Command, Shell } from '../command/command.ts'
import { assertPrintsRecords, jsonLines } from '../command/json-lines.ts'
import { readArguments, unknownWord } from '../command/read-arguments.ts'
import { textTable } from '../command/text-table.ts'
import { UsageError } from '../command/usage-error.ts'
import { VERBS } from '../command/verbs.ts'

const TRASH_USAGE = `Remove what was made by mistake, see what was removed, bring it back.

  branchpoint trash list [--json|--jsonl]
  branchpoint trash delete SLUG [--kind KIND]
  branchpoint trash undelete SLUG [--kind KIND]
  branchpoint trash purge [SLUG] [--kind KIND]

  SLUG     of an artifact, or its id
  KIND     workflow (applications and evaluators, too), testset, environment or query; needed where several have the slug

  --json   prints the server's answer; --jsonl a record a line
  delete   refuses what something refers to, and names that
  purge    removes for good what was removed, all of it unless SLUG is given; it cannot be brought back (scope admin)

What is removed goes for good by itself after 30 days.

${SERVER_USAGE}

Example:
  branchpoint trash delete typo`

export const trashCommand: Command = {
  usage: TRASH_USAGE,
  needsWords: true,
  run: async (args, { environment, print }) => {
    const output = await runTrash(args, environment)
    if (output !== '') print(output)
    return 0
  },
}

/** The path of each kind. */
const PATHS: Readonly<Record<string, string>> = {
  workflow: 'workflows',
  testset: 'testsets',
  environment: 'environments',
  query: 'queries',
}

interface Named {
  readonly kind: string
  readonly id: string
  readonly slug: string
}

interface TrashedRecord extends Named {
  readonly name?: string
  readonly trashed_at: string
  readonly until: string
}

/** The fields of an answer that the command reads. */
interface ServerAnswer {
  readonly trash?: readonly TrashedRecord[]
  readonly [name: string]: unknown
}

/** Runs `trash` with these arguments over the server's routes; answers the output. */
export async function runTrash(args: readonly string[], environment: Shell['environment']): Promise<string> {
  const { command, slug, kind, json, jsonl, project, ...given } = readWords(args)
  const server = chosenServer(given, environment, TRASH_USAGE)
  if (project !== undefined) await projectOfKey(server, project)
  if (command === 'list') {
    if (json) return textFrom(server, 'GET', '/trash')
    const trash = await inTrash(server)
    return jsonl ? jsonLines(trash) : listed(trash)
  }
  if (command === 'purge') return purge(server, slug, kind)
  if (slug === undefined) throw new UsageError(`${command} needs a SLUG.`, TRASH_USAGE)
  if (command === 'delete') {
    const found = one(await live(server, slug, kind), slug, 'There is nothing with the slug')
    const answer = await ask(server, 'DELETE', `/simple/${PATHS[found.kind] ?? ''}/${found.id}`)
    const { until } = answer[found.kind] as TrashedRecord // answered by our own server
    return `Removed the ${found.kind} "${found.slug}" (${found.id}). Until ${until} it can be brought back: ${COMMAND} trash undelete ${found.slug}`
  }
  const found = one(named(await inTrash(server), slug, kind), slug, 'Nothing lies in the trash with the slug')
  await ask(server, 'POST', `/simple/${PATHS[found.kind] ?? ''}/${found.id}/undelete`, {})
  return `Brought the ${found.kind} "${found.slug}" (${found.id}) back.`
}

function readWords(args: readonly string[]) {
  const { values, positionals } = readArguments(args, VERBS.trash.options, { usage: TRASH_USAGE })
  const [command = '', slug, more] = positionals
  const { kind } = values
  const { words } = VERBS.trash
  if (!words.some((word) => word === command)) throw unknownWord(command, words, TRASH_USAGE)
  const tooMuch = more ?? (command === 'list' ? slug : undefined)
  if (tooMuch !== undefined) throw new UsageError(`"${tooMuch}" is one word too many.`, TRASH_USAGE)
  if (kind !== undefined && !(kind in PATHS)) throw new UsageError(`There is no kind "${kind}".`, TRASH_USAGE)
  assertPrintsRecords(command, values, TRASH_USAGE)
  return { ...values, command, slug }
}

async function purge(
  server: ChosenServer,
  slug: string | undefined,
  kind: string | undefined,
): Promise<string> {
  const trash = (await inTrash(server)).filter((it) => kind === undefined || it.kind === kind)
  const meant =
    slug === undefined
      ? trash
      : [one(named(trash, slug, kind), slug, 'Nothing lies in the trash with the slug')]
  for (const { id } of meant) await ask(server, 'DELETE', `/trash/${id}`)
  if (meant.length === 0) return 'The trash is empty.'
  return meant.map((it) => `Removed the ${it.kind} "${it.slug}" (${it.id}) for good.`).join('\n')
}

async function inTrash(server: ChosenServer): Promise<readonly TrashedRecord[]> {
  return (await ask(server, 'GET', '/trash')).trash ?? []
}

function listed(trash: readonly TrashedRecord[]): string {
  if (trash.length === 0) return 'The trash is empty.'
  const rows = trash.map((it) => [it.kind, it.slug, it.id, moment(it.trashed_at), moment(it.until)])
  return textTable([['KIND', 'SLUG', 'ID', 'REMOVED (UTC)', 'UNTIL'], ...rows])
}

function moment(date: string): string {
  return date.slice(0, 19).replace('T', ' ')
}

/** Artifacts with the slug or id, also archived ones. */
async function live(server: ChosenServer, slug: string, kind: string | undefined): Promise<Named[]> {
  const found: Named[] = []
  for (const [singular, path] of Object.entries(PATHS)) {
    if (kind !== undefined && kind !== singular) continue
    const reference = isId(slug) ? { id: slug } : { slug }
    const asked = { [`${singular}_refs`]: [reference], include_archived: true }
    const answer = await ask(server, 'POST', `/${path}/query`, asked)
    const records = (answer[path] ?? []) as readonly Omit<Named, 'kind'>[] // answered by our own server
    for (const { id, slug: own } of records) found.push({ kind: singular, id, slug: own })
  }
  return found
}

function named<T extends Named>(all: readonly T[], slug: string, kind: string | undefined): T[] {
  return all.filter(
    (it) => (it.slug === slug || it.id === slug.toLowerCase()) && (kind === undefined || it.kind === kind),
  )
}

function one<T extends Named>(found: readonly T[], slug: string, none: string): T {
  const [first, second] = found
  if (!first) throw new Refusal('artifact_not_found', `${none} "${slug}".`)
  if (!second) return first
  const kinds = found.map(({ kind }) => kind).join(', ')
  throw new UsageError(`Several have the slug "${slug}": ${kinds}. Say which with --kind.`, TRASH_USAGE)
}

function isId(text: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
}

function ask(server: ChosenServer, method: string, path: string, body?: object): Promise<ServerAnswer> {
  return askServer<ServerAnswer>(server, method, path, body ? { body } : {})
}
