import { setTimeout as pause } from 'node:timers/promises'
import type { Store } from '../git/store.ts'
import type { Log } from '../http/server/logger.ts'
import type { Registries } from '../versioning/registries.ts'

/** How often the log says how far it is, in milliseconds. */
const EVERY = 10_000

interface FillWatch {
  readonly store: Store
  readonly registries: Registries
  readonly logger: Log['logger']
  /** Of the service. */
  readonly closing: AbortSignal
}

/** Says how far the folder of a new server is filled, while it is served; once it is whole, reads in the projects that have come. */
export function watchFilling(watch: FillWatch): void {
  const { store, registries, logger } = watch
  const { filling } = store
  if (!filling) return
  const began = performance.now()
  const say = (): void => {
    const { there, of, problem } = filling.progress()
    const figures = { repositories: there, of, ...(problem === undefined ? {} : { problem }) }
    logger[problem === undefined ? 'info' : 'warn'](figures, 'the folder is being filled from the database')
  }
  say()
  const saying = setInterval(say, EVERY).unref()
  void filling.whole.then(() => {
    clearInterval(saying)
    const seconds = Math.round((performance.now() - began) / 1000)
    logger.info({ repositories: filling.progress().of, seconds }, 'the folder has everything')
    return untilDone(() => registries.start(), watch)
  })
}

/** How long (milliseconds) after a failure it is tried again. */
const AFTER_FAILURE = 1000

/** Does the work again and again, as where the database is away just then, until it is done or the service closes. */
export async function untilDone(
  work: () => Promise<void>,
  { logger, closing }: Pick<FillWatch, 'logger' | 'closing'>,
): Promise<void> {
  while (!closing.aborted) {
    try {
      return await work()
    } catch (error) {
      if (closing.aborted) return
      logger.error({ err: error }, 'a project could not be read in; it will be tried again')
      await pause(AFTER_FAILURE, undefined, { ref: false })
    }
  }
}
