import type { Config } from './config.ts'
import { EvaluationPlaces } from './evaluations/evaluation-places.ts'
import { type EvaluationServices, ProjectEvaluations } from './evaluations/project-evaluations.ts'
import type { Fs } from './git/fs.ts'
import type { InvocationServices } from './invocation/invoke.ts'
import { lazily } from './lazily.ts'
import { remembered } from './remembered.ts'
import { type OpenSandbox, openSandbox } from './sandbox/open-sandbox.ts'
import { SANDBOX_LIMITS } from './sandbox/sandbox-limits.ts'
import type { Registry } from './versioning/registry.ts'

export interface RuntimeSettings
  extends Pick<InvocationServices, 'record'>, Pick<EvaluationServices, 'tracesOf' | 'onTrouble'> {
  readonly config: Config
  readonly fs: Fs
}

/** Everything that runs workflows. */
export interface Runtime {
  readonly services: InvocationServices
  evaluationsOf(registry: Registry): ProjectEvaluations
  /** How many of them run. */
  readonly evaluationPlaces: Pick<EvaluationPlaces, 'running'>
  /** Interrupts evaluations, so that nobody waits for one any more; resolves once none runs. */
  interruptEvaluations(): Promise<void>
  readonly sandbox: OpenSandbox
  /** Interrupts evaluations and scripts; resolves once nothing runs any more. */
  close(): Promise<void>
}

/** Opens what workflows run with. Interpreters, models and secrets cost nothing before the first run that needs them. */
export function openRuntime({ config, fs, record, tracesOf, onTrouble }: RuntimeSettings): Runtime {
  const sandbox = openSandbox({
    ...SANDBOX_LIMITS,
    timeoutMs: config.sandboxTimeoutMs,
    memoryBytes: config.sandboxMemoryBytes,
    atOnce: config.sandboxAtOnce,
  })
  const evaluations = new Map<Registry, ProjectEvaluations>()
  const places = new EvaluationPlaces(config.evaluationsAtOnce)
  const services: InvocationServices = {
    runner: lazily(async () => (await import('./open-runner.ts')).openRunner({ config, fs, sandbox })),
    record,
  }
  return {
    services,
    sandbox,
    evaluationsOf: (registry) =>
      remembered(
        evaluations,
        registry,
        () => new ProjectEvaluations(registry, { invocation: services, places, tracesOf, onTrouble }),
      ),
    evaluationPlaces: places,
    interruptEvaluations,
    close: async () => {
      await interruptEvaluations()
      await sandbox.close()
    },
  }

  async function interruptEvaluations(): Promise<void> {
    await Promise.all([...evaluations.values()].map((it) => it.close()))
  }
}
