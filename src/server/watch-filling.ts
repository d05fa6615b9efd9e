import { setTimeout as pause } from 'node:timers/promises'
import type { Store } from '../git/store.ts'
import type { Log } from '../http/server/logger.ts'
import type { Registries } from '../versioning/registries.ts'

/** How often the log says how far it is, in milliseconds. */
const EVERY = 10_000

/** Says how far the folder of a new server is filled, while it is served; once it is whole, reads in the projects that have come. */
export function watchFilling(store: Store, registries: Registries, logger: Log['logger']): void {
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
  void filling.whole
    .then(async () => {
      clearInterval(saying)
      const seconds = Math.round((performance.now() - began) / 1000)
      logger.info({ repositories: filling.progress().of, seconds }, 'the folder has everything')
      await untilStarted(registries, logger)
    })
    .catch((error: unknown) => logger.error({ err: error }, 'a project could not be read in'))
}

/** How long (milliseconds) after a failure it is tried again. */
const AFTER_FAILURE = 1000

/** Reads the projects in, again and again where the database is away just then. */
async function untilStarted(registries: Registries, logger: Log['logger']): Promise<void> {
  for (;;) {
    try {
      return await registries.start()
    } catch (error) {
      logger.error({ err: error }, 'a project could not be read in; it will be tried again')
      await pause(AFTER_FAILURE, undefined, { ref: false })
    }
  }
}
