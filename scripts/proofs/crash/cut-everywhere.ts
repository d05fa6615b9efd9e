import type { Fs } from '../../../src/storage/files/fs.ts'
import { checkRecovered } from './check-recovered.ts'
import { checkWithGit } from './check-with-git.ts'
import type { Crash } from './crash.ts'
import { crashed, CRASHES, POWER_CUTS } from './crash.ts'
import { newHistory, runCrashHistory } from './crash-history.ts'
import { GitOnDisk } from '../../../test/support/disk/git-on-disk.ts'
import { imageOf } from '../../../test/support/disk/image.ts'
import { openServer, STORE } from './open-server.ts'
import type { Random } from '../../../test/support/values/random.ts'
import { randomFrom } from '../../../test/support/values/random.ts'
import type { Step } from '../../../test/support/disk/disk-steps.ts'
import { SimulatedDisk } from '../../../test/support/disk/simulated-disk.ts'

export interface CutOptions {
  /** The same seed is the same history on the same disk, cut in the same ways (ids and file names differ). */
  readonly seed: number
  /** How many times some writes are sent at once. */
  readonly rounds: number
  /** The share of steps at which the machine is stopped; at all of them unless given. */
  readonly share?: number
  /** The share of recovered stores that the git program looks at, too. */
  readonly gitShare?: number
  /** Makes the server careless, to see that it is found out. */
  readonly careless?: (fs: Fs) => Fs
  /** After so many failures no more are looked for. */
  readonly maxFailures?: number
}

export interface CutFigures {
  /** Steps of the disk before which the machine was stopped. */
  readonly cuts: number
  /** Different disks that were left, on each of which a server was started. */
  readonly states: number
  /** Of them, those on which the first start was cut off as well. */
  readonly twice: number
  /** Writes of the history that were answered. */
  readonly answered: number
  /** Repositories that the git program looked at. */
  readonly checkedByGit: number
  /** What was not as it must be: when and how the machine stopped, and what was wrong then. */
  readonly failures: readonly string[]
}

/** So many of the states that a cut may leave are looked at. */
const STATES_A_CUT = 2
/** The share of starts that are cut off. */
const CUT_AGAIN = 0.15

/**
 * Runs a random history, stopping the machine before every step it takes on the disk, in some of the ways there are; then starts a
 * server on each disk that this may leave and checks everything. Some of these starts are cut off, too, and made again.
 */
export async function cutEverywhere(options: CutOptions): Promise<CutFigures> {
  const { seed, rounds, share = 1, gitShare = 0, careless = (fs) => fs, maxFailures = 3 } = options
  const random = randomFrom(seed)
  const choices = randomFrom(seed + 1)
  const disk = new SimulatedDisk(randomFrom(seed + 2))
  const git = new GitOnDisk(disk, STORE)
  const history = newHistory()
  const states = new Map<string, LeftOver>()
  let cuts = 0
  disk.watch((step) => {
    if (step.call === 'read' || !choices.chance(share)) return
    cuts++
    for (let count = 0; count < STATES_A_CUT; count++) {
      // A server that is killed leaves git to its work.
      const crash = choices.pick(git.isAtWork ? POWER_CUTS : CRASHES) ?? 'everything'
      const left = crashed(disk.state, crash, randomFrom(choices.below(2 ** 31)))
      const image = crash === 'killed' ? `killed ${step.number}` : imageOf(left.state)
      // Of two cuts that leave the same disk, the later one demands more of it.
      states.set(image, { disk: states.get(image)?.disk ?? left, crash, step })
    }
  })
  const clock = { now: () => disk.steps, flush: () => disk.flush() }
  try {
    const server = await runCrashHistory(careless(git.fs), history, { random, rounds, ...clock })
    await server.close()
  } finally {
    git.close()
  }

  const distinct = states.size
  const figures = { twice: 0, checkedByGit: 0, failures: [] as string[] }
  for (const [image, { disk: left, crash, step }] of states) {
    // There are thousands, of which none is needed any more once it was looked at.
    states.delete(image)
    if (figures.failures.length >= maxFailures) break
    const story = [`seed ${seed}: ${crash} before step ${step.number} (${step.call} ${step.path})`]
    try {
      let start = left
      if (choices.chance(CUT_AGAIN)) {
        figures.twice++
        start = await cutRecovery(left, careless, choices, story)
      }
      await checkRecovered(start, history, step.number)
      if (choices.chance(gitShare)) figures.checkedByGit += checkWithGit(start.fs)
    } catch (error) {
      figures.failures.push(
        `${story.join(', then ')}: ${error instanceof Error ? error.stack : String(error)}`,
      )
    }
  }
  return { cuts, states: distinct, answered: history.answered, ...figures }
}

interface LeftOver {
  readonly disk: SimulatedDisk
  readonly crash: Crash
  /** The step that was not taken. */
  readonly step: Step
}

/** Starts a server and stops the machine at some step of that; answers what is left then. */
async function cutRecovery(
  left: SimulatedDisk,
  careless: (fs: Fs) => Fs,
  random: Random,
  story: string[],
): Promise<SimulatedDisk> {
  let cut = left
  left.watch((step) => {
    // Each step is as likely as any other to be the last one chosen.
    if (step.call === 'read' || !random.chance(1 / step.number)) return
    const crash = random.pick(CRASHES) ?? 'everything'
    cut = crashed(left.state, crash, randomFrom(random.below(2 ** 31)), 2)
    story[1] = `${crash} before step ${step.number} of the start (${step.call} ${step.path})`
  })
  const server = await openServer(careless(left.fs))
  left.watch(() => undefined)
  await server.close()
  return cut
}
