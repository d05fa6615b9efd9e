import { COMMAND } from '../../command-name.ts'
import { projectNames, DEFAULT_PROJECT, checkProjectName } from '../../access/keys.ts'
import type { Config } from '../../config.ts'
import { invalid } from '../../errors.ts'
import {
  openSecrets,
  type SecretPurpose,
  type ProjectSecrets,
  type SecretRecord,
} from '../../access/secrets.ts'
import { askServer, projectOfKey } from '../command/ask-server.ts'
import type { ChosenServer } from '../command/chosen-server.ts'
import type { Command, Shell } from '../command/command.ts'
import { assertPrintsRecords, jsonLines } from '../command/json-lines.ts'
import { askHidden } from '../command/hidden-input.ts'
import { placeOf, PLACE_USAGE } from '../command/place.ts'
import { readArguments, unknownWord } from '../command/read-arguments.ts'
import { textTable } from '../command/text-table.ts'
import { UsageError } from '../command/usage-error.ts'
import { VERBS } from '../command/verbs.ts'
import { type StatePlace, withDocuments } from '../command/with-documents.ts'
import type { Readable } from 'node:stream'

/** Longer input is refused: no secret is this long. */
const MAX_BYTES = 1024 * 1024

/**
 * Reads a secret's value from a pipe or file, without one line break at the end, which `echo` and editors add. Undefined if it is not UTF-8
 * or too long.
 */
async function readValue(input: Readable): Promise<string | undefined> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of input as AsyncIterable<Buffer>) {
    pieces.push(piece)
    size += piece.length
    if (size > MAX_BYTES) return undefined
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(pieces))
    return text.replace(/\r?\n$/, '')
  } catch {
    return undefined // a fatal decoder throws only TypeErrors
  }
}

const USAGE = `Set, list and remove the secrets of a project: keys of model providers, and credentials that the headers of hooks
name as {"secret": "NAME"}. A running server sees each change with its next use.

  branchpoint secrets set NAME [--provider PROVIDER] [--base-url URL] [--project PROJECT]
  branchpoint secrets list [--project PROJECT] [--json|--jsonl]
  branchpoint secrets remove NAME [--project PROJECT]

  NAME             letters, digits, "_", "." and "-": OPENAI_API_KEY is what calls of OpenAI's models take
  PROVIDER, URL    make the secret a connection that prompts can name: the provider it is for, and where its interface is
  PROJECT          "${DEFAULT_PROJECT}" unless given; a server works in the key's
  --json           prints the server's answer, of a store the same form; --jsonl a record a line; both without values

The value is asked for on the terminal, which does not show it, or read from standard input.

Secrets are encrypted with SECRETS_KEY (32 bytes in base64 or hex); unless that is set, with the key in secrets.key, which is
made in the store with the first secret. A server has them with its own key.

${PLACE_USAGE}

Example:
  branchpoint secrets set OPENAI_API_KEY < key.txt`

export const secretsCommand: Command = {
  usage: USAGE,
  needsWords: true,
  run: async (args, shell) => {
    const output = await run(args, shell)
    if (output !== '') shell.print(output)
    return 0
  },
}

async function run(args: readonly string[], { environment }: Shell): Promise<string> {
  const { values, positionals } = readArguments(args, VERBS.secrets.options, { usage: USAGE })
  const [command, name, ...rest] = positionals
  if (command === undefined) return USAGE
  // The word is not repeated, because it may be the value.
  if (rest.length > 0)
    throw new UsageError('There is a word too many: values are not given on the command line.', USAGE)
  const { provider, 'base-url': baseUrl } = values
  if (command !== 'set' && (provider ?? baseUrl) !== undefined)
    throw new UsageError('--provider and --base-url go with set only.', USAGE)
  assertPrintsRecords(command, values, USAGE)
  const work = workOf(command, name, { provider, baseUrl, json: values.json, jsonl: values.jsonl })
  const place = placeOf(values, environment, USAGE)
  if (place.kind === 'server') {
    const project = await projectOfKey(place.server, values.project)
    return work(secretsOfServer(place.server), `in project "${project}" ${place.shown}`)
  }
  const project = checkProjectName(values.project ?? DEFAULT_PROJECT)
  return withDocuments(place.config, project, (state) =>
    work(openIn(project, state, place.config), `in project "${project}" ${place.shown}`),
  )
}

/** A sub-command on secrets; `where` is the place in messages. */
type Work = (secrets: Secrets, where: string) => Promise<string>
type JsonForms = { readonly json: boolean | undefined; readonly jsonl: boolean | undefined }
type Secrets = Pick<ProjectSecrets, 'set' | 'list' | 'remove'>

/** Refuses a wrong word or name before a place is chosen. */
function workOf(
  command: string,
  name: string | undefined,
  { json, jsonl, ...purpose }: JsonForms & SecretPurpose,
): Work {
  if (command === 'list') {
    if (name !== undefined) throw new UsageError('list takes no name.', USAGE)
    return (secrets, where) => list(secrets, where, { json, jsonl })
  }
  if (command !== 'set' && command !== 'remove') throw unknownWord(command, VERBS.secrets.words, USAGE)
  if (name === undefined) throw new UsageError(`${command} needs the name of a secret.`, USAGE)
  return command === 'set'
    ? (secrets, where) => set(secrets, name, purpose, where)
    : (secrets, where) => remove(secrets, name, where)
}

function secretsOfServer(server: ChosenServer): Secrets {
  interface Answered {
    readonly name: string
    readonly provider?: string
    readonly base_url?: string
    readonly created_at: string
    readonly updated_at: string
  }
  const recordOf = ({
    name,
    provider,
    base_url: baseUrl,
    created_at,
    updated_at,
  }: Answered): SecretRecord => ({
    ...{ name, provider, baseUrl },
    ...{ createdAt: created_at, updatedAt: updated_at },
  })
  const pathOf = (name: string): string => `/secrets/${encodeURIComponent(name)}`
  return {
    list: async () =>
      (await askServer<{ readonly secrets: readonly Answered[] }>(server, 'GET', '/secrets')).secrets.map(
        recordOf,
      ),
    set: async (name, value, { provider, baseUrl } = {}) => {
      const body = { secret: { value, provider, base_url: baseUrl } }
      const answer = await askServer<{ readonly secret: Answered }>(server, 'PUT', pathOf(name), { body })
      return recordOf(answer.secret)
    },
    // For an unknown name the server answers an error with the known ones.
    remove: async (name) => {
      await askServer(server, 'DELETE', pathOf(name))
      return true
    },
  }
}

/** The secrets of an existing project. A misspelt name must not create a project. */
function openIn(
  project: string,
  { fs, storeDir, shown }: StatePlace,
  { secretsKey }: Config,
): ProjectSecrets {
  if (project !== DEFAULT_PROJECT && !projectNames(fs, storeDir).includes(project))
    throw invalid(
      ['project'],
      `there is no project "${project}" in ${shown}; make it with its first API key: ${COMMAND} keys create ` +
        `--project ${project} …`,
      'not_found',
    )
  return openSecrets(fs, storeDir, secretsKey).of(project)
}

async function set(secrets: Secrets, name: string, purpose: SecretPurpose, where: string): Promise<string> {
  const { stdin, stderr } = process
  const value = stdin.isTTY ? await askHidden(`Value of ${name}: `, stdin, stderr) : await readValue(stdin)
  if (value === undefined)
    throw invalid(
      ['value'],
      stdin.isTTY ? 'none was given; nothing was set.' : 'it is not UTF-8 text of at most 64 KiB.',
    )
  await secrets.set(name, value, purpose)
  return `Set ${name} ${where}.`
}

async function list(secrets: Secrets, where: string, { json, jsonl }: JsonForms): Promise<string> {
  const records = await secrets.list()
  const answered = records.map(({ name, provider, baseUrl, createdAt, updatedAt }) => ({
    ...{ name, provider, base_url: baseUrl, created_at: createdAt, updated_at: updatedAt },
  }))
  if (json) return JSON.stringify({ count: records.length, secrets: answered })
  if (jsonl) return jsonLines(records)
  return records.length === 0 ? `There are no secrets ${where}.` : table(records)
}

async function remove(secrets: Secrets, name: string, where: string): Promise<string> {
  if (await secrets.remove(name)) return `Removed ${name} ${where}.`
  const known = (await secrets.list()).map((it) => it.name)
  const others = known.length > 0 ? `its secrets are ${known.join(', ')}` : 'it has none'
  throw invalid(['name'], `there is no secret ${JSON.stringify(name)} ${where}; ${others}.`, 'not_found')
}

function table(records: readonly SecretRecord[]): string {
  const minute = (time: string) => time.slice(0, 16).replace('T', ' ')
  return textTable([
    ['NAME', 'PROVIDER', 'BASE URL', 'SET FIRST (UTC)', 'SET LAST (UTC)'],
    ...records.map((it) => [
      it.name,
      it.provider ?? '-',
      it.baseUrl ?? '-',
      minute(it.createdAt),
      minute(it.updatedAt),
    ]),
  ])
}
