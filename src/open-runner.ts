import { basename } from 'node:path'
import type { Config } from './config.ts'
import type { Fs } from './git/fs.ts'
import { builtInHandlers } from './handlers/built-in-handlers.ts'
import type { Runner } from './invocation/invoke.ts'
import type { HandlerReach } from './invocation/run-context.ts'
import { projectCredentials } from './model-credentials.ts'
import { createModels } from './models/create-models.ts'
import { resolveHost } from './outgoing/outgoing-policy.ts'
import { remembered } from './remembered.ts'
import type { Sandbox } from './sandbox/sandbox.ts'
import { openSecrets } from './secrets/open-secrets.ts'
import type { Registry } from './versioning/registry.ts'

/** Largest answer of a hook (contract/handlers 2.7) and of a model's provider that is read, in bytes. */
const HOOK_ANSWER = 1024 * 1024
const MODEL_ANSWER = 16 * 1024 * 1024

export interface RunnerSettings {
  readonly config: Config
  readonly fs: Fs
  readonly sandbox: Sandbox
}

/** Opens the built-in handlers with what they reach. This file brings a fifth of all modules, and is loaded by the first run. */
export function openRunner({ config, fs, sandbox }: RunnerSettings): Runner {
  const secrets = openSecrets(fs, config.storeDir, config.secretsKey)
  const policy = { allowPrivate: config.hookAllowPrivate, resolve: resolveHost }
  const reaches = new WeakMap<Registry, HandlerReach>()
  return {
    handlers: builtInHandlers,
    reach: (registry) => remembered(reaches, registry, () => reachOf(basename(registry.store.folder))),
  }

  function reachOf(project: string): HandlerReach {
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
