import type { Intents } from '../access/intents.ts'
import type { KeyUses } from '../access/key-uses.ts'
import { startMaintenance } from '../git/maintenance/schedule.ts'
import { storeRepositories } from '../git/repository-path.ts'
import type { Store } from '../git/store.ts'
import { Steps } from '../http/server/steps.ts'
import type { Family } from '../versioning/family/family.ts'
import type { Projects } from './compose-projects.ts'
import type { StartOptions } from './started-service.ts'
import { keepTakingOver } from './take-over.ts'
import type { WorkflowRuntime } from './workflow-runtime.ts'

/** What is to be closed with a service. */
export interface ClosableParts {
  readonly options: StartOptions
  readonly store: Store
  readonly families: readonly Family[]
  readonly projects: Projects
  readonly runtime: WorkflowRuntime
  readonly intents: Intents
  readonly keyUses: KeyUses
}

/** Closes a service in steps, none of which keeps the others: answers what did not end in its time. */
export function closer({ options, store, projects, runtime, keyUses }: ClosableParts): {
  readonly steps: Steps
  readonly closeAll: () => Promise<readonly string[]>
} {
  // A third is for what is in flight, and a moment for the end.
  const steps = new Steps(0.55 * options.config.stopMs)
  const closeAll = async (): Promise<readonly string[]> => {
    // Runs that are cut short leave traces, too.
    await steps.take('evaluations, scripts and their processes', () => runtime.close())
    await steps.take('when keys were used', () => keyUses.close())
    await steps.take('webhooks', () => projects.webhooks.close())
    await steps.take('traces and their threads', () =>
      Promise.all([projects.traces.close(), projects.exporter?.close()]),
    )
    await steps.take('the search and its thread', () => projects.search.close())
    await steps.take('the projects', () => projects.registries.close())
    await steps.take('the journal of the store', () => store.close())
    return steps.kept
  }
  return { steps, closeAll }
}

/** Begins what looks after a store while it is served; the answer ends that. */
export function startBackground(
  { options: { config, log }, store, families, projects, intents, runtime }: ClosableParts,
  steps: Steps,
): () => Promise<void> {
  const stopPurging = intents.keepPurged()
  const stopClosing = store.keepRemovedClosed()
  const stopFinishing = store.keepFinishing(() => projects.registries.sweepLeftovers())
  const onTrouble = (error: unknown): void =>
    log.logger.error(
      { err: error },
      'what another server was at could not be looked for; it will be tried again',
    )
  const stopTakingOver = keepTakingOver({ store, projects, runtime, onTrouble })
  const folders = families.map(({ folder }) => folder)
  const stopUpkeep =
    config.upkeep === 'on'
      ? startMaintenance(store.fs, () => storeRepositories(store.fs, config.storeDir, folders))
      : undefined
  return async () => {
    stopPurging()
    stopTakingOver()
    stopClosing()
    await steps.take('what dead servers left', () => stopFinishing())
    await steps.take('upkeep and its git program', () => stopUpkeep?.())
  }
}
