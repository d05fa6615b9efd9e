import { COMMAND } from '../../command-name.ts'
import { projectNames } from '../../access/api-keys.ts'
import { DEFAULT_PROJECT, checkProjectName } from '../../access/project-name.ts'
import { type Config, readConfig } from '../../config.ts'
import { invalid } from '../../errors.ts'
import { openSecrets } from '../../secrets/open-secrets.ts'
import type { ProjectSecrets, SecretRecord } from '../../secrets/project-secrets.ts'
import type { Command, Shell } from '../command/command.ts'
import { assertPrintsRecords, jsonLines } from '../command/json-lines.ts'
import { readArguments, unknownWord } from '../command/read-arguments.ts'
import { textTable } from '../command/text-table.ts'
import { UsageError } from '../command/usage-error.ts'
import { VERBS } from '../command/verbs.ts'
import { type StatePlace, withDocuments } from '../command/with-documents.ts'
import { askHidden } from './secrets/ask-hidden.ts'
import { readValue } from './secrets/read-value.ts'

const USAGE = `Set, list and remove the secrets of a project: keys of model providers, and credentials that the headers of hooks
name as {"secret": "NAME"}. A running server sees each change with its next use.

  branchpoint secrets set NAME [--provider PROVIDER] [--base-url URL] [--project PROJECT]
  branchpoint secrets list [--project PROJECT] [--json]
  branchpoint secrets remove NAME [--project PROJECT]

  NAME             letters, digits, "_", "." and "-": OPENAI_API_KEY is what calls of OpenAI's models take
  PROVIDER, URL    make the secret a connection that prompts can name: the provider it is for, and where its interface is
  PROJECT          "${DEFAULT_PROJECT}" unless given
  --json           prints a record a line, without values

The value is asked for on the terminal, which does not show it, or read from standard input:

  branchpoint secrets set OPENAI_API_KEY < key.txt

Secrets are encrypted with SECRETS_KEY (32 bytes in base64 or hex); unless that is set, with the key in secrets.key, which is
made in the store with the first secret. The store is the folder in STORE_DIR (./store unless set), or the database in STORE.`

/** The command `secrets`. */
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
  // Not shown: it may be the value itself.
  if (rest.length > 0)
    throw new UsageError('There is a word too many: values are not given on the command line.', USAGE)
  const project = values.project ?? DEFAULT_PROJECT
  const config = readConfig(environment)
  const open = <T>(work: (secrets: ProjectSecrets) => Promise<T>): Promise<T> =>
    withDocuments(config, checkProjectName(project), (place) => work(openIn(project, place, config)))
  const { provider, 'base-url': baseUrl } = values
  if (command !== 'set' && (provider ?? baseUrl) !== undefined)
    throw new UsageError('--provider and --base-url go with set only.', USAGE)
  assertPrintsRecords(command, values.json, USAGE)
  if (command === 'list' && name === undefined) return open((secrets) => list(secrets, project, values.json))
  if (command === 'set') {
    const chosen = named(name, command)
    return open((secrets) => set(secrets, chosen, { provider, baseUrl }, project))
  }
  if (command === 'remove') {
    const chosen = named(name, command)
    return open((secrets) => remove(secrets, chosen, project))
  }
  if (command === 'list') throw new UsageError('list takes no name.', USAGE)
  throw unknownWord(command, VERBS.secrets.words, USAGE)
}

function named(name: string | undefined, command: string): string {
  if (name !== undefined) return name
  throw new UsageError(`${command} needs the name of a secret.`, USAGE)
}

/** The secrets of a project that is there; a misspelt name must not make one. */
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

async function set(
  secrets: ProjectSecrets,
  name: string,
  purpose: { readonly provider: string | undefined; readonly baseUrl: string | undefined },
  project: string,
): Promise<string> {
  const { stdin, stderr } = process
  const value = stdin.isTTY ? await askHidden(`Value of ${name}: `, stdin, stderr) : await readValue(stdin)
  if (value === undefined)
    throw invalid(
      ['value'],
      stdin.isTTY ? 'none was given; nothing was set.' : 'it is not UTF-8 text of at most 64 KiB.',
    )
  await secrets.set(name, value, purpose)
  return `Set ${name} in project "${project}".`
}

async function list(secrets: ProjectSecrets, project: string, json = false): Promise<string> {
  const records = await secrets.list()
  if (json) return jsonLines(records)
  return records.length === 0 ? `Project "${project}" has no secrets.` : table(records)
}

async function remove(secrets: ProjectSecrets, name: string, project: string): Promise<string> {
  if (await secrets.remove(name)) return `Removed ${name} from project "${project}".`
  const known = (await secrets.list()).map((it) => it.name)
  const others = known.length > 0 ? `its secrets are ${known.join(', ')}` : 'it has none'
  throw invalid(
    ['name'],
    `project "${project}" has no secret ${JSON.stringify(name)}; ${others}.`,
    'not_found',
  )
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
