import { setTimeout as pause } from 'node:timers/promises'
import type { Store } from '../git/store.ts'
import type { Log } from '../http/logger.ts'
import type { Registries } from '../registry/registries.ts'

const MS_BETWEEN_REPORTS = 10_000

interface FillWatch {
  readonly store: Store
  readonly registries: Registries
  readonly logger: Log['logger']
  /** Aborted when the service closes. */
  readonly closing: AbortSignal
}

/** Logs the progress of filling a new server's folder, and loads the new projects when the folder is complete. */
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
  const saying = setInterval(say, MS_BETWEEN_REPORTS).unref()
  void filling.whole.then(() => {
    clearInterval(saying)
    const seconds = Math.round((performance.now() - began) / 1000)
    logger.info({ repositories: filling.progress().of, seconds }, 'the folder has everything')
    return untilDone(() => registries.start(), watch)
  })
}

const MS_BEFORE_RETRY = 1000

/** Repeats the work until it succeeds or the service closes, for example while the database is unavailable. */
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
      await pause(MS_BEFORE_RETRY, undefined, { ref: false })
    }
  }
}
