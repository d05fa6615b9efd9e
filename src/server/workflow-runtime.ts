import { basename } from 'node:path'
import type { Config } from '../config.ts'
import { type EvaluationServices, limitedEvaluations, ProjectEvaluations } from '../run/evaluations.ts'
import { builtInHandlers } from '../run/handlers.ts'
import type { HandlerServices, InvocationServices } from '../run/invocation.ts'
import {
  createModels,
  type Credential,
  type CredentialSource,
  type KeyTest,
  keyVariable,
  testKey,
} from '../run/models.ts'
import { resolveHost } from '../feeds/outgoing.ts'
import { type OpenSandbox, openSandbox, SANDBOX_LIMITS } from '../run/sandbox.ts'
import { Semaphore } from '../base/scheduling.ts'
import { openSecrets, type ProjectSecrets, type SecretRecord } from '../access/secrets.ts'
import type { Fs } from '../storage/files.ts'
import type { Registry } from '../registry/registries.ts'

/** Maximum bytes of an answer of a hook (interface 11.16) and of a model's provider. */
const HOOK_ANSWER = 1024 * 1024
const MODEL_ANSWER = 16 * 1024 * 1024

/** A user waits for the test of a key, which is answered a list of models. */
const KEY_TEST_MS = 15_000
const KEY_TEST_ANSWER = 4 * 1024 * 1024

export interface RuntimeSettings
  extends Pick<InvocationServices, 'record'>, Pick<EvaluationServices, 'tracesOf' | 'onTrouble'> {
  readonly config: Config
  readonly fs: Fs
}

/** Everything that runs workflows. */
export interface WorkflowRuntime {
  readonly services: InvocationServices
  evaluationsOf(registry: Registry): ProjectEvaluations
  secretsOf(registry: Registry): ProjectSecrets
  /** Whether the provider accepts the secret. Undefined if the secret does not belong to a provider. */
  testSecret(registry: Registry, secret: SecretRecord, signal: AbortSignal): Promise<KeyTest | undefined>
  /** The permits for running evaluations. */
  readonly evaluationPermits: Semaphore
  /** Interrupts evaluations, so that no request waits for one; resolves once none runs. */
  interruptEvaluations(): Promise<void>
  readonly sandbox: OpenSandbox
  /** Interrupts evaluations and scripts; resolves once none runs. */
  close(): Promise<void>
}

/** Opens what workflows need to run. Interpreters, models and secrets cost nothing before the first run that needs them. */
export function openRuntime({ config, fs, record, tracesOf, onTrouble }: RuntimeSettings): WorkflowRuntime {
  const secrets = openSecrets(fs, config.storeDir, config.secretsKey)
  const sandbox = openSandbox({
    ...SANDBOX_LIMITS,
    timeoutMs: config.sandboxTimeoutMs,
    memoryBytes: config.sandboxMemoryBytes,
    atOnce: config.sandboxAtOnce,
  })
  const policy = { allowPrivate: config.hookAllowPrivate, resolve: resolveHost }
  const reaches = new WeakMap<Registry, HandlerServices>()
  const evaluations = new Map<Registry, ProjectEvaluations>()
  const permits = new Semaphore(config.evaluationsAtOnce)
  const services: InvocationServices = {
    handlers: builtInHandlers,
    versionType: config.versionType,
    record,
    reach: (registry) => remembered(reaches, registry, () => reachOf(projectOf(registry))),
  }
  return {
    services,
    sandbox,
    secretsOf: (registry) => secrets.of(projectOf(registry)),
    testSecret: (registry, secret, signal) =>
      testKey(secret, {
        credentials: projectCredentials(secrets.of(projectOf(registry)), config.modelCredentials),
        ...{ policy, maxAnswerBytes: KEY_TEST_ANSWER, signal },
        timeoutMs: Math.min(config.modelTimeoutMs, KEY_TEST_MS),
      }),
    evaluationsOf: ({ whole, limit }) => {
      const all = remembered(
        evaluations,
        whole,
        () => new ProjectEvaluations(whole, { invocation: services, permits, tracesOf, onTrouble }),
      )
      return limit ? limitedEvaluations(all, limit) : all
    },
    evaluationPermits: permits,
    interruptEvaluations,
    close: async () => {
      await interruptEvaluations()
      await sandbox.close()
    },
  }

  async function interruptEvaluations(): Promise<void> {
    await Promise.all([...evaluations.values()].map((it) => it.close()))
  }

  function reachOf(project: string): HandlerServices {
    const own = secrets.of(project)
    return {
      project,
      secret: (name) => own.get(name),
      models: createModels({
        credentials: projectCredentials(own, config.modelCredentials),
        policy,
        timeoutMs: config.modelTimeoutMs,
        maxAnswerBytes: MODEL_ANSWER,
      }),
      sandbox,
      outgoing: { policy, maxAnswerBytes: HOOK_ANSWER },
    }
  }
}

function projectOf({ store }: Registry): string {
  return basename(store.folder)
}

function remembered<K extends object, V>(
  known: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: () => V,
): V {
  let value = known.get(key)
  if (value === undefined) known.set(key, (value = make()))
  return value
}

/**
 * The credentials of a project (interface 11.19): its secret `<PROVIDER>_API_KEY`, else the provider's in `environment`; and as
 * connections, the secrets that were set with a provider. A project's key without a base URL uses the environment's base URL for the
 * provider, so that a gateway that the operator chose is never bypassed.
 */
export function projectCredentials(
  secrets: ProjectSecrets,
  environment: ReadonlyMap<string, Credential>,
): CredentialSource {
  return {
    ofProvider: async (provider) => {
      const configured = environment.get(provider)
      const own = await secrets.find(keyVariable(provider))
      if (!own) return configured
      if (own.baseUrl !== undefined) return { apiKey: own.value, baseUrl: own.baseUrl }
      return { ...configured, apiKey: own.value }
    },
    named: async (name) => {
      const secret = await secrets.find(name)
      if (secret?.provider === undefined) return undefined
      return { apiKey: secret.value, baseUrl: secret.baseUrl, provider: secret.provider }
    },
    names: async () => (await secrets.list()).filter((it) => it.provider !== undefined).map((it) => it.name),
  }
}
