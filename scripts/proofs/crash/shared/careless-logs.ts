import type {
  AppendedBatch,
  OpenLog,
  Proposal,
  SharedLog,
} from '../../../../src/cluster/following/shared-log.ts'

/** Ways in which a shared log can be used wrongly, each of which loses something. */
export const CARELESS_LOGS: Readonly<Record<string, (openLog: OpenLog) => OpenLog>> = {
  'a write is answered before it is decided': (openLog) => async (stream) =>
    answeringAtOnce(await openLog(stream)),

  'a folder takes what it lacks for there': (openLog) => async (stream) => {
    const log = await openLog(stream)
    return { ...log, read: async () => [] }
  },
}

/** Everything is said to have happened, and decided some turns of the event loop later, one batch after the other. */
function answeringAtOnce(log: SharedLog): SharedLog {
  let n: number | undefined
  let before: Promise<unknown> = Promise.resolve()
  const decideLater = (proposals: readonly Proposal[]): void => {
    before = before
      .then(async () => {
        for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
        await log.append(proposals)
      })
      .catch(() => undefined)
  }
  return {
    ...log,
    append: async (proposals): Promise<AppendedBatch> => {
      n ??= (await log.look()).positions.get(log.stream)?.n ?? 0
      decideLater(proposals)
      return {
        position: { n: ++n, mark: '' },
        outcomes: proposals.map(({ writes }) => ({ versions: writes.map(() => 1) })),
      }
    },
    close: async () => {
      await before
      await log.close()
    },
  }
}
