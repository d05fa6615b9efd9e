import { checkProjectName } from '../../access/keys.ts'
import type { Config } from '../../config.ts'
import { Refusal } from '../../errors.ts'
import { type TestsetLimits, testsetFamily } from '../../registry/testsets.ts'
import { resourceSettings } from '../../server/resource-settings.ts'
import { yieldToEventLoop } from '../../base/scheduling.ts'
import { signingSettings } from '../../server/signing-settings.ts'
import type { Family } from '../../registry/families.ts'
import { openRegistry, type Registry } from '../../registry/registries.ts'
import type { Shell } from '../command/command.ts'
import { type OpenStore, openStore } from '../command/open-store.ts'
import { assertStoreThere } from '../command/place.ts'

/** The part of the shell that `testsets` uses. */
export type TestsetShell = Pick<Shell, 'environment' | 'progress' | 'signal'>

/** The testsets of a project, opened as a server does. */
export interface OpenTestsets {
  readonly registry: Registry
  readonly family: Family
  readonly limits: TestsetLimits
  /** Finishes what was written and closes the store. */
  close(): Promise<void>
}

export interface OpenOptions {
  readonly config: Config
  readonly project: string
  /** After an abort, writes that have not yet started are not stored. */
  readonly signal: AbortSignal
}

/** Opens a project of an existing store; creates the project if it is absent. */
export async function openTestsets(options: OpenOptions): Promise<OpenTestsets> {
  checkProjectName(options.project)
  assertStoreThere(options.config)
  return openIn(await openStore(options.config), options)
}

async function openIn(
  { store, close: closeStore }: OpenStore,
  { config, project, signal }: OpenOptions,
): Promise<OpenTestsets> {
  try {
    const signing = signingSettings(config)
    const { testsets: limits } = resourceSettings(config)
    const family = stoppable(testsetFamily(limits), signal)
    // Service addresses do not occur in testsets.
    const settings = { servicesBase: '', now: () => new Date(), signing }
    const open = await openRegistry(await store.project(project), [family], settings)
    const close = async (): Promise<void> => {
      await open.close()
      await closeStore()
    }
    return { registry: open.registry, family, limits, close }
  } catch (error) {
    await closeStore()
    throw error
  }
}

/** As `openTestsets`, but refuses a project that does not exist. */
export async function openExistingTestsets(options: OpenOptions): Promise<OpenTestsets> {
  const { config, project } = options
  checkProjectName(project)
  assertStoreThere(config)
  const opened = await openStore(config)
  if (opened.store.projects().includes(project)) return openIn(opened, options)
  await opened.close()
  const where = config.store === undefined ? `The store at ${config.storeDir}` : 'The store in the database'
  throw new Refusal('artifact_not_found', `${where} has no project "${project}".`)
}

/** The family, with a check of the signal right before a revision is written. */
function stoppable(family: Family, signal: AbortSignal): Family {
  return {
    ...family,
    write: async (target, payload, before, limits) => {
      const written = await family.write(target, payload, before, limits)
      await yieldToEventLoop() // the signal may have had to wait for the computation
      signal.throwIfAborted()
      return written
    },
  }
}
