import { z } from 'zod'
import { CannotStart } from './errors.ts'
import type { LogLevel } from './http/server/logger.ts'
import { LOG_LEVELS } from './http/server/logger.ts'
import {
  MODEL_PROVIDERS,
  environmentCredentials,
  keyVariable,
  urlVariable,
} from './models/model-providers.ts'
import type { Credential } from './models/models.ts'
import type { SecretsKey } from './secrets/secrets-key.ts'
import { parseSecretsKey } from './secrets/secrets-key.ts'

/** Everything an operator can set, checked. The only place that knows the names of the environment variables. */
export interface Config {
  /** TCP port to listen on; 0 takes any free one. */
  readonly port: number
  /** Address or host name to listen on. */
  readonly host: string
  /** Folder that holds everything durable; `:memory:` keeps nothing. */
  readonly storeDir: string
  /** How clients reach this server, without a trailing slash; undefined means the address it listens on. */
  readonly publicUrl: string | undefined
  /** Whether answers carry `version` as a number or as a string (ruling 3.1). */
  readonly versionType: 'number' | 'string'
  /** A key accepted as the admin key of project `default`, beside those in the store. */
  readonly adminKey: string | undefined
  readonly logLevel: LogLevel
  /** File of the Ed25519 key that commits are signed with; without it they are not. */
  readonly signingKeyFile: string | undefined
  /** File of further keys whose signatures are believed, as `gpg.ssh.allowedSignersFile` names one. */
  readonly allowedSignersFile: string | undefined
  /** What the projects' secrets are encrypted with; without it, with a key that the store keeps. */
  readonly secretsKey: SecretsKey | undefined
  /** Largest JSON body, in bytes, after decompression. */
  readonly maxBodyBytes: number
  /** Most bytes of JSON bodies that are held at once, those of 64 KiB and less not counted. */
  readonly maxBodiesBytes: number
  /** Deepest nesting of a JSON body. */
  readonly maxBodyDepth: number
  /** Most values of a JSON body: members and items at any depth. */
  readonly maxBodyValues: number
  /** Largest uploaded file, in bytes, after decompression. */
  readonly uploadMaxBytes: number
  /** Most bytes of uploads, pushes and bundles that are on their way in at once, those of 64 KiB and less not counted. */
  readonly uploadsMaxBytes: number
  /** Most rows of a testset. */
  readonly testsetMaxRows: number
  /** Whether clients of the existing service are answered as that one answers them (ruling 1.14). */
  readonly compat: 'none' | 'existing'
  /** Largest row of a testset, in bytes. */
  readonly testsetMaxRowBytes: number
  /** Whether the server repacks repositories in the background where that has become worth it. */
  readonly upkeep: 'on' | 'off'
  /** Most bytes of one push, as they come in. */
  readonly pushMaxBytes: number
  /** Largest file that a push may bring, in bytes. */
  readonly pushMaxBlobBytes: number
  /** Most connections at once. */
  readonly maxConnections: number
  /** Most requests worked on at once. */
  readonly maxRequests: number
  /** How long a stop may take, in milliseconds; then the process is killed. */
  readonly stopMs: number
  /** Whether /metrics asks for a key. */
  readonly metrics: 'key' | 'open'
  /** Most clones, fetches and pushes at once. */
  readonly gitMaxRequests: number
  /** Whether webhooks may go to addresses that are not of the public internet. */
  readonly webhookAllowPrivate: boolean
  /** How long a delivery may take, in milliseconds. */
  readonly webhookTimeoutMs: number
  /** How long after each failed attempt a delivery is tried again, in seconds; after the last of them it has failed. */
  readonly webhookRetrySeconds: readonly number[]
  /** Whether invocations leave traces. */
  readonly traces: 'on' | 'off'
  /** Traces that are older are removed. */
  readonly tracesMaxAgeDays: number
  /** Past so many bytes of a project's traces, the oldest are removed. */
  readonly tracesMaxBytes: number
  /** How long a query of traces may take, in milliseconds. */
  readonly tracesQueryTimeoutMs: number
  /** What reaches the providers of language models, by provider. */
  readonly modelCredentials: ReadonlyMap<string, Credential>
  /** How long a call of a language model may take, in milliseconds. */
  readonly modelTimeoutMs: number
  /** Whether workflows may call hooks at addresses that are not of the public internet. */
  readonly hookAllowPrivate: boolean
  /** How long a script may run, in milliseconds. */
  readonly sandboxTimeoutMs: number
  /** How much memory a script may have, in bytes. */
  readonly sandboxMemoryBytes: number
  /** How many scripts run at once. */
  readonly sandboxAtOnce: number
  /** How many evaluations run at once. */
  readonly evaluationsAtOnce: number
  /** The `OTEL_…` variables, which the exporter of traces reads as every OpenTelemetry exporter does. */
  readonly telemetry: Readonly<Record<string, string>>
}

/**
 * Reads the configuration from environment variables; an empty variable counts as unset. Throws one `ConfigError` that
 * names every bad variable, its value and what is allowed.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const read = variables.safeParse(given)
  const problems = [
    ...(read.error?.issues ?? []).map((issue) => describeIssue(issue, given)),
    ...modelProblems(given),
  ]
  if (!read.success || problems.length > 0) throw new ConfigError(problems)
  const values = read.data
  return {
    port: values.PORT,
    host: values.HOST,
    storeDir: values.STORE_DIR,
    publicUrl: values.PUBLIC_URL,
    versionType: values.COMPAT === 'existing' ? 'string' : values.VERSION_TYPE,
    compat: values.COMPAT,
    adminKey: values.SVC_API_KEY,
    logLevel: values.LOG_LEVEL,
    signingKeyFile: values.SIGNING_KEY_FILE,
    allowedSignersFile: values.ALLOWED_SIGNERS_FILE,
    secretsKey: values.SECRETS_KEY,
    maxBodyBytes: values.MAX_BODY_BYTES,
    maxBodiesBytes: values.MAX_BODIES_BYTES,
    maxBodyDepth: values.MAX_BODY_DEPTH,
    maxBodyValues: values.MAX_BODY_VALUES,
    uploadMaxBytes: values.UPLOAD_MAX_BYTES,
    uploadsMaxBytes: values.UPLOADS_MAX_BYTES,
    testsetMaxRows: values.TESTSET_MAX_ROWS,
    testsetMaxRowBytes: values.TESTSET_MAX_ROW_BYTES,
    upkeep: values.UPKEEP,
    pushMaxBytes: values.PUSH_MAX_BYTES,
    pushMaxBlobBytes: values.PUSH_MAX_BLOB_BYTES,
    maxConnections: values.MAX_CONNECTIONS,
    maxRequests: values.MAX_REQUESTS,
    stopMs: values.STOP_TIMEOUT_MS,
    metrics: values.METRICS,
    gitMaxRequests: values.GIT_MAX_REQUESTS,
    webhookAllowPrivate: values.WEBHOOK_ALLOW_PRIVATE === 'true',
    webhookTimeoutMs: values.WEBHOOK_TIMEOUT_MS,
    webhookRetrySeconds: values.WEBHOOK_RETRY_SECONDS,
    traces: values.TRACES,
    tracesMaxAgeDays: values.TRACES_MAX_AGE_DAYS,
    tracesMaxBytes: values.TRACES_MAX_BYTES,
    tracesQueryTimeoutMs: values.TRACES_QUERY_TIMEOUT_MS,
    modelCredentials: environmentCredentials(given),
    modelTimeoutMs: values.MODEL_TIMEOUT_MS,
    hookAllowPrivate: values.HOOK_ALLOW_PRIVATE === 'true',
    sandboxTimeoutMs: values.SANDBOX_TIMEOUT_MS,
    sandboxMemoryBytes: values.SANDBOX_MEMORY_BYTES,
    sandboxAtOnce: values.SANDBOX_AT_ONCE,
    evaluationsAtOnce: values.EVALUATIONS_AT_ONCE,
    telemetry: Object.fromEntries(Object.entries(given).filter(isTelemetry)),
  }
}

/** The start must not go on: the message lists every problem on its own line. */
export class ConfigError extends CannotStart {
  override readonly name = 'ConfigError'

  constructor(problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
  }
}

const variables = z.object({
  PORT: wholeNumber(0, 65535).default(3000),
  HOST: allowed(/^[A-Za-z0-9_.:%-]+$/, 'a host name or an IP address').default('127.0.0.1'),
  STORE_DIR: allowed(/^[^\0]+$/, 'a folder').default('./store'),
  PUBLIC_URL: z.string().transform(toPublicUrl).optional(),
  VERSION_TYPE: oneOf(['number', 'string']).default('number'),
  COMPAT: oneOf(['none', 'existing']).default('none'),
  SVC_API_KEY: allowed(/^[\x21-\x7e]+$/, 'printable ASCII characters without spaces').optional(),
  LOG_LEVEL: oneOf(LOG_LEVELS).default('info'),
  SIGNING_KEY_FILE: allowed(/^[^\0]+$/, 'a file').optional(),
  ALLOWED_SIGNERS_FILE: allowed(/^[^\0]+$/, 'a file').optional(),
  SECRETS_KEY: z.string().transform(toSecretsKey).optional(),
  MAX_BODY_BYTES: wholeNumber(1024, 1024 ** 3).default(16 * 1024 ** 2),
  MAX_BODIES_BYTES: wholeNumber(1024, 8 * 1024 ** 3).default(256 * 1024 ** 2),
  MAX_BODY_DEPTH: wholeNumber(8, 1000).default(128),
  MAX_BODY_VALUES: wholeNumber(1000, 100_000_000).default(1_000_000),
  UPLOAD_MAX_BYTES: wholeNumber(1024, 8 * 1024 ** 3).default(1024 ** 3),
  UPLOADS_MAX_BYTES: wholeNumber(1024, 1024 ** 4).default(16 * 1024 ** 3),
  TESTSET_MAX_ROWS: wholeNumber(1, 10_000_000).default(1_000_000),
  TESTSET_MAX_ROW_BYTES: wholeNumber(1024, 256 * 1024 ** 2).default(5 * 1024 ** 2),
  UPKEEP: oneOf(['on', 'off']).default('on'),
  PUSH_MAX_BYTES: wholeNumber(1024, 8 * 1024 ** 3).default(1024 ** 3),
  PUSH_MAX_BLOB_BYTES: wholeNumber(1024, 256 * 1024 ** 2).default(5 * 1024 ** 2),
  MAX_CONNECTIONS: wholeNumber(1, 1_000_000).default(4096),
  MAX_REQUESTS: wholeNumber(1, 100_000).default(1000),
  STOP_TIMEOUT_MS: wholeNumber(100, 3_600_000).default(30_000),
  METRICS: oneOf(['key', 'open']).default('key'),
  GIT_MAX_REQUESTS: wholeNumber(1, 1000).default(8),
  WEBHOOK_ALLOW_PRIVATE: oneOf(['true', 'false']).default('false'),
  WEBHOOK_TIMEOUT_MS: wholeNumber(100, 60_000).default(15_000),
  // The schedule that Standard Webhooks recommends: 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 hours.
  WEBHOOK_RETRY_SECONDS: allowed(
    /^[0-9]{1,6}(\.[0-9]{1,3})?(,[0-9]{1,6}(\.[0-9]{1,3})?){0,19}$/,
    'up to 20 numbers of seconds with commas between them',
  )
    .default('5,300,1800,7200,18000,36000,50400,72000,86400')
    .transform((list) => list.split(',').map(Number)),
  TRACES: oneOf(['on', 'off']).default('on'),
  TRACES_MAX_AGE_DAYS: wholeNumber(1, 36_500).default(30),
  TRACES_MAX_BYTES: wholeNumber(1024 ** 2, 9_999_999_999).default(1024 ** 3),
  TRACES_QUERY_TIMEOUT_MS: wholeNumber(100, 60_000).default(5000),
  MODEL_TIMEOUT_MS: wholeNumber(100, 3_600_000).default(120_000),
  HOOK_ALLOW_PRIVATE: oneOf(['true', 'false']).default('false'),
  SANDBOX_TIMEOUT_MS: wholeNumber(10, 600_000).default(10_000),
  SANDBOX_MEMORY_BYTES: wholeNumber(64 * 1024 ** 2, 4 * 1024 ** 3).default(256 * 1024 ** 2),
  SANDBOX_AT_ONCE: wholeNumber(1, 64).default(2),
  EVALUATIONS_AT_ONCE: wholeNumber(1, 1000).default(8),
})

function isTelemetry(variable: [string, string | undefined]): variable is [string, string] {
  return variable[0].startsWith('OTEL_')
}

/** Variables whose values no message shows. */
const HIDDEN = ['SVC_API_KEY', 'SECRETS_KEY']

function wholeNumber(min: number, max: number) {
  const error = `a whole number from ${min} to ${max}`
  return z
    .string()
    .regex(/^[0-9]{1,15}$/, { error, abort: true })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error })
}

function allowed(pattern: RegExp, words: string) {
  return z.string().regex(pattern, words)
}

function oneOf<const T extends readonly [string, ...string[]]>(values: T) {
  return z.enum(values, { error: `one of ${values.join(', ')}` })
}

function toPublicUrl(text: string, context: z.RefinementCtx): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username || url.password) {
    context.addIssue('an http or https address without query, fragment or password')
    return z.NEVER
  }
  return url.href.replace(/\/+$/, '')
}

function toSecretsKey(text: string, context: z.RefinementCtx): SecretsKey {
  const key = parseSecretsKey(text)
  if (key) return key
  context.addIssue('32 bytes in base64 or hex, as  openssl rand -base64 32  makes them')
  return z.NEVER
}

function describeIssue(issue: z.core.$ZodIssue, given: Readonly<Record<string, string | undefined>>): string {
  const name = String(issue.path[0])
  const value = HIDDEN.includes(name) ? 'the value given (not shown)' : JSON.stringify(given[name])
  return `${name}: ${value} is not ${issue.message}`
}

/** Addresses of providers that no model could be reached at, and keys that no header carries. They are secret, and not shown. */
function* modelProblems(given: Readonly<Record<string, string | undefined>>): Generator<string> {
  for (const provider of MODEL_PROVIDERS.keys()) {
    const [url, key] = [urlVariable(provider), keyVariable(provider)]
    const address = given[url] ?? 'http://unset'
    if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
      yield `${url}: the value given (not shown) is not an http or https address, such as http://127.0.0.1:11434/v1`
    if (!/^[\x20-\x7e]*$/.test((given[key] ?? '').trim()))
      yield `${key}: the value given (not shown) is not printable ASCII characters on one line`
  }
}
