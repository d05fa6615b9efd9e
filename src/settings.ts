import { LOG_LEVELS } from './http/logger.ts'
import { parseSecretsKey } from './access/secrets.ts'

/** An environment variable of the server. */
export interface Setting<T> {
  readonly variable: string
  /** The valid values, with their unit, as shown in refusals and docs/configuration.md. */
  readonly takes: string
  /** Parses a text; undefined if it is invalid. */
  readonly read: (text: string) => T | undefined
  /** The default text. */
  readonly byDefault?: string
  /** The behaviour if the variable is not set and has no default text. */
  readonly unset?: string
  /** In Markdown, for docs/configuration.md. */
  readonly meaning: string
  /** No message shows its value. */
  readonly isSecret?: true
}

type Kind<T> = Pick<Setting<T>, 'takes' | 'read' | 'isSecret'>

const KIB = 1024
const MIB = 1024 ** 2
const GIB = 1024 ** 3

const FILE = matching(/^[^\0]+$/, 'a file')
const FOLDER = matching(/^[^\0]+$/, 'a folder')
const ADDRESS = matching(/^[A-Za-z0-9_.:%-]+$/, 'a host name or an IP address')
const DATABASE = matching(
  /^postgres(?:ql)?:\/\/[^/?#]+\/[^/?#]+/,
  'an address such as postgres://user@host/database',
)
const TOKEN = matching(/^[\x21-\x7e]+$/, 'printable ASCII characters without spaces')
const KEY = {
  takes: '32 bytes in base64 or hex, as  openssl rand -base64 32  makes them',
  read: parseSecretsKey,
}
const URL_OF_OURS = { takes: 'an http or https address without query, fragment or password', read: publicUrl }
const PAUSES = { takes: 'up to 20 numbers of seconds with commas between them', read: pauses }
const ON_OFF = oneOf(['on', 'off'])

/**
 * The environment variables with fixed names, by their member of `Config`. The server reads them through this
 * table, and docs/configuration.md is generated from it (`npm run docs`).
 */
// prettier-ignore
export const SETTINGS = {
  port: setting('PORT', whole(0, 65_535), 3000, 'TCP port; `0` takes any free one'),
  host: setting('HOST', ADDRESS, '127.0.0.1', 'address to listen on'),
  storeDir: setting('STORE_DIR', FOLDER, './store',
    'folder that holds everything durable; `:memory:` keeps nothing ([a store in memory](in-memory.md))'),
  store: optional('STORE', { ...DATABASE, isSecret: true }, 'the folder `STORE_DIR`',
    'PostgreSQL database that several servers share, `postgres://user@host,host/database`; each keeps a copy in its `CACHE_DIR` ' +
    '([several servers](operations/cluster.md))'),
  cacheDir: setting('CACHE_DIR', FOLDER, './cache',
    'folder of this server alone that follows `STORE`, in place of `STORE_DIR`; it may be lost'),
  reads: optional('READS', oneOf(['quorum', 'primary', 'local']),
    '`quorum` where the database waits for a standby, else `primary`',
    'how a read is made sure to be fresh with `STORE`: `quorum` by a commit, which no primary that was replaced can make; `primary` by a ' +
    'question to the primary; `local` not at all: it may be a second old'),
  publicUrl: optional('PUBLIC_URL', URL_OF_OURS, 'the address listened on',
    'how clients reach the server; `data.url` of managed handlers is `<PUBLIC_URL>/services/…`'),
  versionType: setting('VERSION_TYPE', oneOf(['number', 'string']), 'number',
    '`string` makes answers carry `version` as a string, for clients that type it so'),
  compat: setting('COMPAT', oneOf(['none', 'existing']), 'none',
    '`existing` answers clients of the existing service as that one does: versions are strings, `author` is a UUID (version 5 of the ' +
    "author's text), what is not found is 200 with `count` 0 where it is read or archived, `detail` of a 422 is a list of " +
    '`{loc, msg, type}`, and fields that nobody reads are ignored outside `data`'),
  adminKey: optional('SVC_API_KEY', { ...TOKEN, isSecret: true }, 'keys of the store only',
    'accepted as the admin key of project `default`, beside the keys in the store'),
  logLevel: setting('LOG_LEVEL', oneOf(LOG_LEVELS), 'info',
    'what is logged, by the levels of pino; reads that succeed are logged at `debug` only'),
  signingKeyFile: optional('SIGNING_KEY_FILE', FILE, 'commits are not signed',
    "file of an Ed25519 private key (OpenSSH's or PKCS#8, no passphrase, readable by nobody else) that every commit is signed with"),
  allowedSignersFile: optional('ALLOWED_SIGNERS_FILE', FILE, 'no further keys',
    "further keys whose signatures are believed, as for git's `gpg.ssh.allowedSignersFile` (Ed25519, RSA, ECDSA)"),
  secretsKey: optional('SECRETS_KEY', { ...KEY, isSecret: true }, "the store's `secrets.key`",
    'key that the secrets of projects are encrypted with'),
  maxBodyBytes: setting('MAX_BODY_BYTES', whole(KIB, GIB, 'bytes'), 16 * MIB,
    'largest JSON body, after decompression, and the most that a stored document may unfold to, its texts filled in'),
  maxDocumentBytes: setting('MAX_DOCUMENT_BYTES', whole(KIB, 4 * MIB, 'bytes'), MIB,
    'largest `data` that a commit brings, but for testsets and environments: as it is sent, and as it is stored with its texts filled in; ' +
    'what is stored and larger stays readable, deployable and clonable'),
  maxBodiesBytes: setting('MAX_BODIES_BYTES', whole(KIB, 8 * GIB, 'bytes'), 256 * MIB,
    'JSON bodies in memory at once, those of 64 KiB and less not counted; what does not fit gets 503 with `Retry-After`'),
  maxBodyDepth: setting('MAX_BODY_DEPTH', whole(8, 1000, 'levels'), 128, 'deepest nesting of a JSON body'),
  maxBodyValues: setting('MAX_BODY_VALUES', whole(1000, 100_000_000, 'values'), 1_000_000,
    'most values of a JSON body, members and items at any depth; of a pushed `data.json` or `references.json`, too'),
  uploadMaxBytes: setting('UPLOAD_MAX_BYTES', whole(KIB, 8 * GIB, 'bytes'), GIB,
    'largest uploaded file, after decompression'),
  uploadsMaxBytes: setting('UPLOADS_MAX_BYTES', whole(KIB, 1024 * GIB, 'bytes'), 16 * GIB,
    'uploads, pushes and bundles on the disk while they come in, those of 64 KiB and less not counted; beyond it, 503'),
  testsetMaxRows: setting('TESTSET_MAX_ROWS', whole(1, 10_000_000, 'rows'), 1_000_000,
    'most rows of a testset'),
  testsetMaxRowBytes: setting('TESTSET_MAX_ROW_BYTES', whole(KIB, 256 * MIB, 'bytes'), 5 * MIB,
    'largest row of a testset'),
  pushMaxBytes: setting('PUSH_MAX_BYTES', whole(KIB, 8 * GIB, 'bytes'), GIB,
    'largest push, and largest bundle of a restore over HTTP'),
  pushMaxBlobBytes: setting('PUSH_MAX_BLOB_BYTES', whole(KIB, 256 * MIB, 'bytes'), 5 * MIB,
    'largest file that a push may bring'),
  gitMaxRequests: setting('GIT_MAX_REQUESTS', whole(1, 1000, 'requests'), 8,
    'clones, fetches and pushes worked on at once, from when all of a request is there; of one project, one fewer'),
  upkeep: setting('UPKEEP', ON_OFF, 'on',
    'whether servers repack repositories in the background; `off` leaves it to `branchpoint maintain` or plain git'),
  maxConnections: setting('MAX_CONNECTIONS', whole(1, 1_000_000, 'connections'), 4096,
    'most connections at once; one more gets 503 with `Retry-After`'),
  maxRequests: setting('MAX_REQUESTS', whole(1, 100_000, 'requests'), 1000,
    'most requests worked on at once; others get 503 with `Retry-After`'),
  eventsAtOnce: setting('EVENTS_AT_ONCE', whole(1, 100_000, 'connections'), 256,
    'most connections to `GET /events` at once; one more gets 503 with `Retry-After`. One project may have half of them and one key a quarter; more of these get 429. They do not count as requests'),
  stopMs: setting('STOP_TIMEOUT_MS', whole(100, 3_600_000, 'milliseconds'), 30_000,
    'how long a stop may take; requests are cut off after a third of it, and at its end the process is killed'),
  metrics: setting('METRICS', oneOf(['key', 'open']), 'key', '`open` answers `/metrics` without a key'),
  webhookAllowPrivate: setting('WEBHOOK_ALLOW_PRIVATE', trueOrFalse(), 'false',
    '`true` lets webhooks go to addresses that are not of the public internet'),
  webhookTimeoutMs: setting('WEBHOOK_TIMEOUT_MS', whole(100, 60_000, 'milliseconds'), 15_000,
    'how long a delivery may take'),
  // What Standard Webhooks recommends: 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 hours.
  webhookRetrySeconds: setting('WEBHOOK_RETRY_SECONDS', PAUSES, '5,300,1800,7200,18000,36000,50400,72000,86400',
    'pauses after failed attempts; after the last of them a delivery has failed'),
  traces: setting('TRACES', ON_OFF, 'on', '`off`: nothing is recorded; what was recorded stays readable'),
  tracesMaxAgeDays: setting('TRACES_MAX_AGE_DAYS', whole(1, 36_500, 'days'), 30, 'older traces are removed; with `STORE`, whole days of them'),
  tracesMaxBytes: setting('TRACES_MAX_BYTES', whole(MIB, 9_999_999_999, 'bytes'), GIB,
    'when the traces of one project take more, the oldest are removed'),
  tracesQueryTimeoutMs: setting('TRACES_QUERY_TIMEOUT_MS', whole(100, 60_000, 'milliseconds'), 5000,
    'how long a query of traces may take'),
  modelTimeoutMs: setting('MODEL_TIMEOUT_MS', whole(100, 3_600_000, 'milliseconds'), 120_000,
    'how long a call of a model may take'),
  hookAllowPrivate: setting('HOOK_ALLOW_PRIVATE', trueOrFalse(), 'false',
    '`true` lets workflows call hooks at addresses that are not of the public internet, and over http'),
  sandboxTimeoutMs: setting('SANDBOX_TIMEOUT_MS', whole(10, 600_000, 'milliseconds'), 10_000,
    'how long a script may run'),
  sandboxMemoryBytes: setting('SANDBOX_MEMORY_BYTES', whole(64 * MIB, 4 * GIB, 'bytes'), 256 * MIB,
    'how much memory a script may have'),
  sandboxAtOnce: setting('SANDBOX_AT_ONCE', whole(1, 64, 'scripts'), 2, 'how many scripts run at once'),
  evaluationsAtOnce: setting('EVALUATIONS_AT_ONCE', whole(1, 1000, 'evaluations'), 8,
    'how many evaluations a process runs at once, over all projects; one more gets 503 with `Retry-After`'),
}

function setting<T>(
  variable: string,
  kind: Kind<T>,
  byDefault: string | number,
  meaning: string,
): Setting<T> {
  return { variable, ...kind, byDefault: String(byDefault), meaning }
}

function optional<T>(
  variable: string,
  kind: Kind<T>,
  unset: string,
  meaning: string,
): Setting<T | undefined> {
  return { variable, ...kind, unset, meaning }
}

function whole(min: number, max: number, unit?: string): Kind<number> {
  return {
    takes: `a whole number${unit === undefined ? '' : ` of ${unit}`} from ${min} to ${max}`,
    read: (text) => {
      const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : NaN
      return value >= min && value <= max ? value : undefined
    },
  }
}

function oneOf<const T extends string>(values: readonly T[]): Kind<T> {
  return { takes: `one of ${values.join(', ')}`, read: (text) => values.find((value) => value === text) }
}

function trueOrFalse(): Kind<boolean> {
  const { takes, read } = oneOf(['true', 'false'])
  return { takes, read: (text) => read(text) && text === 'true' }
}

function matching(pattern: RegExp, takes: string): Kind<string> {
  return { takes, read: (text) => (pattern.test(text) ? text : undefined) }
}

function publicUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url && /^https?:$/.test(url.protocol) && !url.search && !url.hash
  return isPlain && !url.username && !url.password ? url.href.replace(/\/+$/, '') : undefined
}

function pauses(text: string): readonly number[] | undefined {
  const isList = /^[0-9]{1,6}(\.[0-9]{1,3})?(,[0-9]{1,6}(\.[0-9]{1,3})?){0,19}$/.test(text)
  return isList ? text.split(',').map(Number) : undefined
}
