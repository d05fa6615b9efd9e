import { createApiKey, isLive, listApiKeys, revokeApiKey } from '../../access/api-keys.ts'
import type { ApiKey } from '../../access/key-file.ts'
import { DEFAULT_PROJECT } from '../../access/project-name.ts'
import { SCOPES } from '../../access/scope.ts'
import { readConfig } from '../../config.ts'
import type { Config } from '../../config.ts'
import { signingSettings } from '../../server/signing-settings.ts'
import type { Command, Shell } from '../command/command.ts'
import { assertPrintsRecords, jsonLines } from '../command/json-lines.ts'
import { readArguments, unknownWord } from '../command/read-arguments.ts'
import { textTable } from '../command/text-table.ts'
import { UsageError } from '../command/usage-error.ts'
import { VERBS } from '../command/verbs.ts'
import { type StatePlace, withDocuments } from '../command/with-documents.ts'

const USAGE = `Make, list and revoke API keys, which a running server accepts or refuses from its next request on; show the
key that signs commits.

  branchpoint keys create --name NAME --scopes SCOPES [--email EMAIL] [--project PROJECT]
  branchpoint keys list [--project PROJECT] [--json]
  branchpoint keys revoke (--id ID | --name NAME) [--project PROJECT]
  branchpoint keys signing

  NAME and EMAIL   become the git author of what the key commits
  SCOPES           some of ${SCOPES.join(', ')}, separated by commas; admin includes the others
  PROJECT          "${DEFAULT_PROJECT}" unless given; a new name makes a new project

  --json           prints a record a line
  create           prints the key, which commands that ask a server take from BRANCHPOINT_KEY:
                     export BRANCHPOINT_KEY=$(branchpoint keys create --name me --scopes read,write,invoke)
  signing          prints the line of git's allowed-signers file for the key in SIGNING_KEY_FILE:
                     branchpoint keys signing > allowed_signers
                     git -c gpg.ssh.allowedSignersFile=allowed_signers verify-commit HEAD

The store is the folder in STORE_DIR (./store unless set), or the database in STORE.`

interface Options {
  readonly name?: string | undefined
  readonly email?: string | undefined
  readonly scopes?: string | undefined
  readonly project: string
  readonly id?: string | undefined
  readonly json?: boolean | undefined
}

/** The command `keys`. */
export const keysCommand: Command = {
  usage: USAGE,
  needsWords: true,
  run: async (args, shell) => {
    const output = await run(args, shell)
    if (output !== '') shell.print(output)
    return 0
  },
}

async function run(args: readonly string[], { environment }: Shell): Promise<string> {
  const { values, positionals } = readArguments(args, VERBS.keys.options, { usage: USAGE })
  if (positionals.length === 0) return USAGE
  const [command = '', ...rest] = positionals
  if (rest.length > 0) throw new UsageError(`"${rest[0]}" is one word too many.`, USAGE)
  const options: Options = { ...values, project: values.project ?? DEFAULT_PROJECT }
  assertPrintsRecords(command, values.json, USAGE)
  const config = readConfig(environment)
  if (command === 'signing') return signing(config)
  const action = ACTIONS.get(command)
  if (action) return withDocuments(config, options.project, (place) => action(place, options))
  throw unknownWord(command, VERBS.keys.words, USAGE)
}

const ACTIONS: ReadonlyMap<string, (place: StatePlace, options: Options) => Promise<string>> = new Map([
  ['create', create],
  ['list', list],
  ['revoke', revoke],
])

async function create({ fs, storeDir }: StatePlace, options: Options): Promise<string> {
  if (options.name === undefined) throw new UsageError('create needs --name.', USAGE)
  if (options.scopes === undefined) throw new UsageError('create needs --scopes.', USAGE)
  const scopes = options.scopes.split(',').map((scope) => scope.trim())
  const { project, name, email } = options
  const { key, token } = await createApiKey(fs, storeDir, { project, name, email, scopes })
  // The key alone on standard output, so that $(branchpoint keys create …) is it.
  process.stderr.write(`This is the key, shown only now. Send it as  Authorization: ApiKey <key>

${table([key])}

`)
  return token
}

async function list(
  { fs, storeDir, shown }: StatePlace,
  { project, json = false }: Options,
): Promise<string> {
  const keys = listApiKeys(fs, storeDir, project)
  // A hash of a key is nobody's business but the server's.
  if (json) return jsonLines(keys.map(({ sha256: _, ...key }) => key))
  return keys.length === 0 ? `Project "${project}" in ${shown} has no keys.` : table(keys)
}

async function revoke({ fs, storeDir }: StatePlace, options: Options): Promise<string> {
  const { id, name, project } = options
  if ((id === undefined) === (name === undefined))
    throw new UsageError('revoke needs either --id or --name.', USAGE)
  const key = await revokeApiKey(fs, storeDir, project, id === undefined ? { name: name ?? '' } : { id })
  return `Revoked "${key.name}" (${key.id}). Requests with it are refused from now on.`
}

function signing(config: Config): string {
  const { key } = signingSettings(config)
  if (key) {
    const { type, blob } = key.publicKey
    return `branchpoint namespaces="git" ${type} ${blob.toString('base64')}`
  }
  throw new UsageError(
    "Commits are not signed: set SIGNING_KEY_FILE to the file that ssh-keygen -t ed25519 -N '' -f FILE makes.",
    USAGE,
  )
}

function table(keys: readonly ApiKey[]): string {
  const rows = keys.map((key) => [
    key.id,
    key.name,
    key.email,
    key.scopes.join(','),
    `…${key.last4}`,
    key.created_at.slice(0, 19).replace('T', ' '),
    isLive(key) ? 'live' : `revoked ${key.revoked_at?.slice(0, 10)}`,
  ])
  return textTable([['ID', 'NAME', 'EMAIL', 'SCOPES', 'ENDS', 'CREATED (UTC)', 'STATE'], ...rows])
}
