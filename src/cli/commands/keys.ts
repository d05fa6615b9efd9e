import {
  createApiKey,
  isLive,
  type KeyChoice,
  listApiKeys,
  liveKeyIn,
  revokeApiKey,
  type ApiKey,
  DEFAULT_PROJECT,
  SCOPES,
} from '../../access/keys.ts'
import { readConfig } from '../../config.ts'
import type { Config } from '../../config.ts'
import { signingSettings } from '../../server/signing-settings.ts'
import type { Fs } from '../../storage/files.ts'
import { askServer, projectOfKey, textFrom } from '../command/ask-server.ts'
import type { ChosenServer } from '../command/chosen-server.ts'
import type { Command, Shell } from '../command/command.ts'
import { assertPrintsRecords, jsonLines } from '../command/json-lines.ts'
import { placeOf, PLACE_USAGE } from '../command/place.ts'
import { readArguments, unknownWord } from '../command/read-arguments.ts'
import { textTable } from '../command/text-table.ts'
import { UsageError } from '../command/usage-error.ts'
import { VERBS } from '../command/verbs.ts'
import { withDocuments } from '../command/with-documents.ts'

const USAGE = `Make, list and revoke API keys, which a running server accepts or refuses from its next request on; show the
key that signs commits.

  branchpoint keys create --name NAME --scopes SCOPES [--folders FOLDERS] [--expires DATE] [--email EMAIL]
                         [--project PROJECT]
  branchpoint keys list [--project PROJECT] [--json|--jsonl]
  branchpoint keys revoke (--id ID | --name NAME) [--project PROJECT]
  branchpoint keys signing

  NAME and EMAIL   become the git author of what the key commits
  SCOPES           some of ${SCOPES.join(', ')}, separated by commas; admin includes the others
  FOLDERS          limits the key to these folders: 'support/**,shared', where /** means all below it, too; never with admin
  DATE             when the key stops working: 2027-01-01, which begins in UTC, or 2027-01-01T09:30:00+01:00; never unless given
  PROJECT          "${DEFAULT_PROJECT}" unless given; in a store a new name makes a new project. A server works in the key's

  --json           prints the server's answer, of a store the same form; --jsonl a record a line
  create           prints the key, which commands that ask a server take from BRANCHPOINT_KEY:
                     export BRANCHPOINT_KEY=$(branchpoint keys create --name me --scopes read,write,invoke)
  signing          prints the line of git's allowed-signers file for the key in SIGNING_KEY_FILE:
                     branchpoint keys signing > allowed_signers
                     git -c gpg.ssh.allowedSignersFile=allowed_signers verify-commit HEAD

${PLACE_USAGE}

Example:
  branchpoint keys create --name ci --scopes read,invoke`

interface Options {
  readonly name?: string | undefined
  readonly email?: string | undefined
  readonly scopes?: string | undefined
  readonly folders?: string | undefined
  readonly expires?: string | undefined
  readonly project?: string | undefined
  readonly id?: string | undefined
  readonly json?: boolean | undefined
  readonly jsonl?: boolean | undefined
}

/** A listed key: a store knows its last characters, a server when it was last used. */
interface ListedKey extends Omit<ApiKey, 'sha256' | 'last4'> {
  readonly last4?: string
  readonly last_used_at?: string | null
}

/** Where keys are created, listed and revoked. */
interface KeyPlace {
  /** The place in messages: `at http://…`, `in the store ./store`. */
  readonly shown: string
  create(key: NewKey): Promise<{ readonly key: ListedKey; readonly token: string }>
  list(): Promise<readonly ListedKey[]>
  /** The same as the JSON text of an answer. */
  answer(): Promise<string>
  revoke(which: KeyChoice): Promise<ListedKey>
}
type NewKey = Pick<ApiKey, 'name'> & {
  readonly email?: string | undefined
  readonly scopes: readonly string[]
  readonly folders?: readonly string[] | undefined
  readonly expiresAt?: string | undefined
}

export const keysCommand: Command = {
  usage: USAGE,
  needsWords: true,
  run: async (args, shell) => {
    const output = await run(args, shell)
    if (output !== '') shell.print(output)
    return 0
  },
}

async function run(args: readonly string[], { environment, progress }: Shell): Promise<string> {
  const { values, positionals } = readArguments(args, VERBS.keys.options, { usage: USAGE })
  if (positionals.length === 0) return USAGE
  const [command = '', ...rest] = positionals
  if (rest.length > 0) throw new UsageError(`"${rest[0]}" is one word too many.`, USAGE)
  assertPrintsRecords(command, values, USAGE)
  if (command === 'signing') return signing(readConfig(environment))
  const action = ACTIONS.get(command)
  if (!action) throw unknownWord(command, VERBS.keys.words, USAGE)
  const work = action(values)
  const place = placeOf(values, environment, USAGE)
  const say = (sentence: string): void => void progress.write(`${sentence}\n`)
  if (place.kind === 'server') {
    return work(keysOfServer(place.server, await projectOfKey(place.server, values.project)), say)
  }
  const project = values.project ?? DEFAULT_PROJECT
  return withDocuments(place.config, project, ({ fs, storeDir }) =>
    work(keysOfStore(fs, storeDir, project, place.shown), say),
  )
}

/** A sub-command. It refuses wrong options before a place is chosen. */
type Action = (options: Options) => (keys: KeyPlace, say: (sentence: string) => void) => Promise<string>
const ACTIONS: ReadonlyMap<string, Action> = new Map([
  ['create', create],
  ['list', list],
  ['revoke', revoke],
])

function create({ name, email, scopes, folders, expires }: Options): ReturnType<Action> {
  if (name === undefined) throw new UsageError('create needs --name.', USAGE)
  if (scopes === undefined) throw new UsageError('create needs --scopes.', USAGE)
  return async (keys, say) => {
    const { key, token } = await keys.create({
      name,
      email,
      scopes: listed(scopes),
      folders: folders === undefined ? undefined : listed(folders),
      expiresAt: expires,
    })
    // Only the key goes to standard output, so that $(branchpoint keys create …) works.
    say(
      `Made a key ${keys.shown}. It is shown only now. Send it as  Authorization: ApiKey <key>\n\n${table([key])}\n`,
    )
    return token
  }
}

function listed(text: string): string[] {
  return text.split(',').map((part) => part.trim())
}

function list({ json = false, jsonl = false }: Options): ReturnType<Action> {
  return async (keys) => {
    if (json) return keys.answer()
    const all = await keys.list()
    if (jsonl) return jsonLines(all)
    return all.length === 0 ? `There are no keys ${keys.shown}.` : table(all)
  }
}

function revoke({ id, name }: Options): ReturnType<Action> {
  if ((id === undefined) === (name === undefined))
    throw new UsageError('revoke needs either --id or --name.', USAGE)
  return async (keys) => {
    const key = await keys.revoke(id === undefined ? { name: name ?? '' } : { id })
    return `Revoked "${key.name}" (${key.id}) ${keys.shown}. Requests with it are refused from now on.`
  }
}

function keysOfStore(fs: Fs, storeDir: string, project: string, store: string): KeyPlace {
  // Hashes are not listed.
  const list = (): ListedKey[] => listApiKeys(fs, storeDir, project).map(({ sha256: _, ...key }) => key)
  return {
    shown: `of the project "${project}" ${store}`,
    create: (key) => createApiKey(fs, storeDir, { ...key, project }),
    list: async () => list(),
    answer: async () => JSON.stringify({ count: list().length, keys: list() }),
    revoke: (which) => revokeApiKey(fs, storeDir, project, which),
  }
}

function keysOfServer(server: ChosenServer, project: string): KeyPlace {
  interface Answered extends Omit<ListedKey, 'revoked_at'> {
    readonly revoked_at: string | null
    readonly secret?: string
  }
  const answered = ({ revoked_at, secret: _, ...key }: Answered): ListedKey =>
    revoked_at === null ? key : { ...key, revoked_at }
  const ask = <T>(method: string, path: string, body?: object): Promise<T> =>
    askServer<T>(server, method, path, body ? { body } : {})
  const all = async (): Promise<readonly ListedKey[]> =>
    (await ask<{ readonly keys: readonly Answered[] }>('GET', '/keys')).keys.map(answered)
  return {
    shown: `of the project "${project}" at ${server.url}`,
    create: async ({ expiresAt, ...wanted }) => {
      const body = { key: { ...wanted, expires_at: expiresAt } }
      const { key } = await ask<{ readonly key: Answered }>('POST', '/keys', body)
      return { key: answered(key), token: key.secret ?? '' } // only the answer of the creation has the secret
    },
    list: all,
    answer: () => textFrom(server, 'GET', '/keys'),
    revoke: async (which) => {
      const id = 'id' in which ? which.id : liveKeyIn(await all(), project, which).id
      return answered((await ask<{ readonly key: Answered }>('DELETE', `/keys/${id}`)).key)
    },
  }
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

function table(keys: readonly ListedKey[]): string {
  const hasUses = keys.some(({ last4 }) => last4 === undefined)
  const hasFolders = keys.some(({ folders }) => folders)
  const rows = keys.map((key) => [
    key.id,
    key.name,
    key.email,
    key.scopes.join(','),
    ...(hasFolders ? [key.folders?.join(',') ?? ''] : []),
    hasUses ? (key.last_used_at ? minute(key.last_used_at) : 'never') : `…${key.last4}`,
    minute(key.created_at),
    stateOf(key),
  ])
  const known = hasUses ? 'LAST USED (UTC)' : 'ENDS'
  return textTable([
    ['ID', 'NAME', 'EMAIL', 'SCOPES', ...(hasFolders ? ['FOLDERS'] : []), known, 'CREATED (UTC)', 'STATE'],
    ...rows,
  ])
}

function stateOf(key: ListedKey): string {
  const { revoked_at: revoked, expires_at: expires } = key
  if (revoked !== undefined) return `revoked ${revoked.slice(0, 10)}`
  if (expires === undefined) return 'live'
  return isLive(key) ? `until ${minute(expires)}` : `expired ${expires.slice(0, 10)}`
}

function minute(time: string): string {
  return time.slice(0, 19).replace('T', ' ')
}
