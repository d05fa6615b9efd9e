import { expect } from 'chai'
import { ConfigError, readConfig } from '../src/config.ts'
import { parseSecretsKey } from '../src/access/secrets/secrets-key.ts'

const SECRETS_KEY = '0123456789abcdef'.repeat(4)

describe('configuration', () => {
  it('has defaults for everything, and takes an empty variable for an unset one', () => {
    const defaults = {
      port: 3000,
      host: '127.0.0.1',
      storeDir: './store',
      store: undefined,
      cacheDir: './cache',
      reads: undefined,
      publicUrl: undefined,
      versionType: 'number',
      compat: 'none',
      adminKey: undefined,
      logLevel: 'info',
      signingKeyFile: undefined,
      allowedSignersFile: undefined,
      secretsKey: undefined,
      maxBodyBytes: 16 * 1024 * 1024,
      maxDocumentBytes: 1024 * 1024,
      maxBodiesBytes: 256 * 1024 ** 2,
      maxBodyDepth: 128,
      maxBodyValues: 1_000_000,
      uploadMaxBytes: 1024 ** 3,
      uploadsMaxBytes: 16 * 1024 ** 3,
      testsetMaxRows: 1_000_000,
      testsetMaxRowBytes: 5 * 1024 ** 2,
      upkeep: 'on',
      pushMaxBytes: 1024 ** 3,
      pushMaxBlobBytes: 5 * 1024 ** 2,
      maxConnections: 4096,
      maxRequests: 1000,
      stopMs: 30_000,
      metrics: 'key',
      gitMaxRequests: 8,
      eventsAtOnce: 256,
      webhookAllowPrivate: false,
      webhookTimeoutMs: 15_000,
      webhookRetrySeconds: [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400],
      traces: 'on',
      tracesMaxAgeDays: 30,
      tracesMaxBytes: 1024 ** 3,
      tracesQueryTimeoutMs: 5000,
      modelCredentials: new Map(),
      modelTimeoutMs: 120_000,
      hookAllowPrivate: false,
      sandboxTimeoutMs: 10_000,
      sandboxMemoryBytes: 256 * 1024 ** 2,
      sandboxAtOnce: 2,
      evaluationsAtOnce: 8,
      telemetry: {},
    }
    // docs/configuration.md has the default of each variable that is added later.
    expect(readConfig({})).to.deep.include(defaults)
    expect(readConfig({ PORT: '', SVC_API_KEY: '', PUBLIC_URL: '' })).to.deep.equal(readConfig({}))
  })

  it('reads every variable', () => {
    const config = readConfig({
      PORT: '0',
      HOST: '::1',
      STORE_DIR: '/srv/store',
      STORE: 'postgres://bp:secret@db1,db2/branchpoint',
      CACHE_DIR: '/srv/cache',
      READS: 'quorum',
      PUBLIC_URL: 'https://prompts.example.org/base/',
      VERSION_TYPE: 'string',
      COMPAT: 'existing',
      SVC_API_KEY: 'letmein',
      LOG_LEVEL: 'silent',
      SIGNING_KEY_FILE: '/etc/signing_key',
      ALLOWED_SIGNERS_FILE: '/etc/allowed_signers',
      SECRETS_KEY,
      MAX_BODY_BYTES: '2048',
      MAX_DOCUMENT_BYTES: '4096',
      MAX_BODIES_BYTES: '8192',
      MAX_BODY_DEPTH: '16',
      MAX_BODY_VALUES: '5000',
      UPLOAD_MAX_BYTES: '4096',
      UPLOADS_MAX_BYTES: '16384',
      TESTSET_MAX_ROWS: '100',
      TESTSET_MAX_ROW_BYTES: '2048',
      UPKEEP: 'off',
      PUSH_MAX_BYTES: '8192',
      PUSH_MAX_BLOB_BYTES: '1024',
      MAX_CONNECTIONS: '50',
      MAX_REQUESTS: '20',
      STOP_TIMEOUT_MS: '5000',
      METRICS: 'open',
      GIT_MAX_REQUESTS: '3',
      EVENTS_AT_ONCE: '9',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      WEBHOOK_TIMEOUT_MS: '500',
      WEBHOOK_RETRY_SECONDS: '0.5,60',
      TRACES: 'off',
      TRACES_MAX_AGE_DAYS: '7',
      TRACES_MAX_BYTES: '2097152',
      TRACES_QUERY_TIMEOUT_MS: '1000',
      MISTRAL_API_KEY: 'm',
      OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1',
      MODEL_TIMEOUT_MS: '2000',
      HOOK_ALLOW_PRIVATE: 'true',
      SANDBOX_TIMEOUT_MS: '500',
      SANDBOX_MEMORY_BYTES: '134217728',
      SANDBOX_AT_ONCE: '3',
      EVALUATIONS_AT_ONCE: '5',
      OTEL_SERVICE_NAME: 'prompts',
    })
    expect(config).to.deep.equal({
      port: 0,
      host: '::1',
      storeDir: '/srv/store',
      store: 'postgres://bp:secret@db1,db2/branchpoint',
      cacheDir: '/srv/cache',
      reads: 'quorum',
      publicUrl: 'https://prompts.example.org/base',
      versionType: 'string',
      compat: 'existing',
      adminKey: 'letmein',
      logLevel: 'silent',
      signingKeyFile: '/etc/signing_key',
      allowedSignersFile: '/etc/allowed_signers',
      secretsKey: parseSecretsKey(SECRETS_KEY),
      maxBodyBytes: 2048,
      maxDocumentBytes: 4096,
      maxBodiesBytes: 8192,
      maxBodyDepth: 16,
      maxBodyValues: 5000,
      uploadMaxBytes: 4096,
      uploadsMaxBytes: 16_384,
      testsetMaxRows: 100,
      testsetMaxRowBytes: 2048,
      upkeep: 'off',
      pushMaxBytes: 8192,
      pushMaxBlobBytes: 1024,
      maxConnections: 50,
      maxRequests: 20,
      stopMs: 5000,
      metrics: 'open',
      gitMaxRequests: 3,
      eventsAtOnce: 9,
      webhookAllowPrivate: true,
      webhookTimeoutMs: 500,
      webhookRetrySeconds: [0.5, 60],
      traces: 'off',
      tracesMaxAgeDays: 7,
      tracesMaxBytes: 2 * 1024 ** 2,
      tracesQueryTimeoutMs: 1000,
      modelCredentials: new Map([
        ['openai', { apiKey: '', baseUrl: 'http://127.0.0.1:11434/v1', mayBePrivate: true }],
        ['mistral', { apiKey: 'm', baseUrl: undefined, mayBePrivate: true }],
      ]),
      modelTimeoutMs: 2000,
      hookAllowPrivate: true,
      sandboxTimeoutMs: 500,
      sandboxMemoryBytes: 128 * 1024 ** 2,
      sandboxAtOnce: 3,
      evaluationsAtOnce: 5,
      telemetry: { OTEL_SERVICE_NAME: 'prompts' },
    })
  })

  it('names every bad variable, its value and what is allowed, all at once', () => {
    const text = problemsOf({
      PORT: '70000',
      VERSION_TYPE: 'float',
      LOG_LEVEL: 'loud',
      PUBLIC_URL: 'ftp://x',
    })
    expect(text).to.contain('PORT: "70000" is not a whole number from 0 to 65535')
    expect(text).to.contain('VERSION_TYPE: "float" is not one of number, string')
    expect(text).to.contain('LOG_LEVEL: "loud" is not one of trace, debug, info, warn, error, fatal, silent')
    expect(text).to.contain('PUBLIC_URL: "ftp://x" is not an http or https address')
  })

  for (const [name, value] of [
    ['PORT', '3000x'],
    ['PORT', '-1'],
    ['PORT', '1.5'],
    ['HOST', 'a b'],
    ['PUBLIC_URL', 'prompts.example.org'],
    ['PUBLIC_URL', 'https://x.example/?q=1'],
    ['MAX_BODY_BYTES', '12'],
    ['MAX_BODY_DEPTH', '100000'],
    ['MAX_BODY_VALUES', '10'],
    ['UPLOAD_MAX_BYTES', '9999999999'],
    ['TESTSET_MAX_ROWS', '0'],
    ['TESTSET_MAX_ROW_BYTES', '5MB'],
    ['UPKEEP', 'sometimes'],
    ['WEBHOOK_ALLOW_PRIVATE', 'yes'],
    ['WEBHOOK_TIMEOUT_MS', '1'],
    ['WEBHOOK_RETRY_SECONDS', '5,,300'],
    ['TRACES', 'maybe'],
    ['MODEL_TIMEOUT_MS', '1'],
    ['HOOK_ALLOW_PRIVATE', 'yes'],
    ['SANDBOX_TIMEOUT_MS', '10s'],
    ['SANDBOX_AT_ONCE', '0'],
    ['EVALUATIONS_AT_ONCE', '0'],
    ['EVENTS_AT_ONCE', '0'],
  ] as const) {
    it(`refuses ${name}=${value}`, () => {
      expect(problemsOf({ [name]: value })).to.contain(`${name}: ${JSON.stringify(value)} is not `)
    })
  }

  it('refuses an address of a provider that is none, which may hold a password', () => {
    expect(problemsOf({ OPENAI_BASE_URL: 'me:secret@gateway/v1', GROQ_BASE_URL: 'groq', PORT: 'x' }))
      .to.contain('OPENAI_BASE_URL: the value given (not shown) is not an http or https address')
      .and.contain('GROQ_BASE_URL')
      .and.contain('PORT')
      .and.not.contain('secret')
  })

  it('takes the largest number that it says it takes', () => {
    expect(readConfig({ UPLOADS_MAX_BYTES: String(1024 ** 4) }).uploadsMaxBytes).to.equal(1024 ** 4)
    expect(problemsOf({ UPLOADS_MAX_BYTES: String(1024 ** 4 + 1) })).to.contain('is not a whole number')
  })

  it('refuses the key of a provider that no header carries, and does not show it', () => {
    expect(
      problemsOf({ OPENAI_API_KEY: 'sk-1\nsk-2', GROQ_API_KEY: 'schlüssel', MISTRAL_API_KEY: ' fine\n' }),
    )
      .to.contain('OPENAI_API_KEY: the value given (not shown) is not printable ASCII')
      .and.contain('GROQ_API_KEY')
      .and.not.contain('MISTRAL')
      .and.not.contain('sk-')
  })

  it('never repeats a bad key', () => {
    expect(problemsOf({ SVC_API_KEY: 'two words' }))
      .to.contain('SVC_API_KEY')
      .and.not.contain('two words')
    expect(problemsOf({ SECRETS_KEY: 'half a key' }))
      .to.contain('SECRETS_KEY')
      .and.not.contain('half a key')
  })
})

function problemsOf(env: Record<string, string>): string {
  try {
    readConfig(env)
  } catch (error) {
    expect(error).to.be.instanceOf(ConfigError)
    return (error as ConfigError).message
  }
  throw new Error('the configuration was accepted')
}
