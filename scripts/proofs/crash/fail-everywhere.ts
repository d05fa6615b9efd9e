import { workflowFamily } from '../../../src/run/handlers/workflows.ts'
import { createArtifact } from '../../../src/registry/artifacts/create-artifact.ts'
import { checkRecovered } from './check-recovered.ts'
import { crashed } from './crash.ts'
import type { CrashHistory } from './crash-history.ts'
import { newHistory, runCrashHistory } from './crash-history.ts'
import { GitOnDisk } from '../../../test/support/disk/git-on-disk.ts'
import type { CrashServer } from './open-server.ts'
import { STORE } from './open-server.ts'
import { randomFrom } from '../../../test/support/values/random.ts'
import type { Step, StepCall, Trouble } from '../../../test/support/disk/disk-steps.ts'
import { SimulatedDisk } from '../../../test/support/disk/simulated-disk.ts'
import type { IsSlow } from '../../../test/support/disk/slow-down.ts'
import { slowDown } from '../../../test/support/disk/slow-down.ts'

/** A way in which a disk fails or dawdles: what becomes of every call that meets it. */
export type Fault = { readonly name: string; readonly calls: readonly StepCall[] } & (Trouble | Slowness)

/** So long takes a call. */
export interface Slowness {
  readonly milliseconds: number
}

const NEW: readonly StepCall[] = ['create', 'makeDir', 'link', 'rename']

export const FAULTS: readonly (Fault & Trouble)[] = [
  { name: 'the disk is full', code: 'ENOSPC', calls: [...NEW, 'write'] },
  { name: 'the disk is full in the middle of a write', code: 'ENOSPC', isShort: true, calls: ['write'] },
  {
    name: 'the disk fails',
    code: 'EIO',
    calls: [...NEW, 'write', 'remove', 'sync', 'synced', 'syncDir', 'dirSynced', 'read'],
  },
  { name: 'too many files are open', code: 'EMFILE', calls: ['create', 'sync', 'syncDir', 'read'] },
  { name: 'permissions are missing', code: 'EACCES', calls: [...NEW, 'remove', 'read'] },
]

/** Of which no write may be refused. */
export const SLOWNESSES: readonly (Fault & Slowness)[] = [
  { name: 'syncs take long', milliseconds: 4, calls: ['sync', 'syncDir'] },
  { name: 'new names and removals take long', milliseconds: 2, calls: [...NEW, 'remove'] },
  { name: 'writes take long', milliseconds: 4, calls: ['write'] },
  { name: 'reads take long', milliseconds: 2, calls: ['read'] },
]

export interface FaultOptions {
  readonly seed: number
  readonly rounds: number
  readonly fault: Fault
  /** Every how many steps a run of the history begins to fail. */
  readonly every: number
}

export interface FaultFigures {
  /** Runs of the history, each from another step on. */
  readonly runs: number
  /** Calls that failed or dawdled in them. */
  readonly failed: number
  /** Writes that were refused for it. */
  readonly refused: number
  readonly failures: readonly string[]
}

/**
 * Runs one history again and again, each time with a disk that fails or dawdles from another step on, for one step or for forty. Writes
 * may be refused meanwhile, by the disk's own error; afterwards the same server must take writes, and after a power cut everything that
 * was answered must be there.
 */
export async function failEverywhere({ seed, rounds, fault, every }: FaultOptions): Promise<FaultFigures> {
  const figures = { runs: 0, failed: 0, refused: 0, failures: [] as string[] }
  for (let first = 1 + (seed % every); ; first += every) {
    const run = new FailingRun(seed, fault, first, first % 2 === 0 ? 1 : 40)
    try {
      await run.run(rounds)
    } catch (error) {
      const what = error instanceof Error ? error.stack : String(error)
      figures.failures.push(`seed ${seed}, ${fault.name} from step ${first} on (${run.story}): ${what}`)
    }
    // The history was over before its disk failed.
    if (run.failed === 0) return figures
    figures.runs++
    figures.failed += run.failed
    figures.refused += run.refused
  }
}

class FailingRun {
  failed = 0
  refused = 0
  story = ''
  readonly #seed: number
  readonly #disk: SimulatedDisk
  readonly #git: GitOnDisk

  constructor(seed: number, fault: Fault, first: number, length: number) {
    this.#seed = seed
    this.#disk = new SimulatedDisk(randomFrom(seed + 2))
    this.#git = new GitOnDisk(this.#disk, STORE)
    let left = length
    const meets: IsSlow = (step) => {
      const isMet =
        !this.#git.isAtWork && this.#disk.steps >= first && left > 0 && fault.calls.includes(step.call)
      if (isMet) {
        left--
        this.#note(step)
      }
      return isMet
    }
    if ('milliseconds' in fault) slowDown(this.#disk, fault.milliseconds, meets)
    else this.#disk.watch((step) => (meets(step) ? fault : undefined))
  }

  async run(rounds: number): Promise<void> {
    const all = newHistory()
    const disk = this.#disk
    const server = await this.#runHistory(all, rounds).finally(() => this.#git.close())
    // A disk that fails between two renames leaves a push in part; who sent it is told that it may be there or not.
    const history = { ...all, made: [] }
    disk.watch(() => undefined)
    await takesWrites(server)
    await checkRecovered(crashed(disk.state, 'killed', randomFrom(1)), history, disk.steps)
    await checkRecovered(crashed(disk.state, 'nothing unsynced', randomFrom(1)), history, disk.steps)
    await checkRecovered(crashed(disk.state, 'some of it', randomFrom(this.#seed)), history, disk.steps)
    await server.close()
    await checkRecovered(crashed(disk.state, 'nothing unsynced', randomFrom(1)), history, disk.steps)
  }

  #runHistory(history: CrashHistory, rounds: number): Promise<CrashServer> {
    return runCrashHistory(this.#git.fs, history, {
      random: randomFrom(this.#seed),
      rounds,
      now: () => this.#disk.steps,
      flush: () => this.#disk.flush(),
      onFailure: (write, error) => this.#refused(write, error),
    })
  }

  #note({ call, path }: Omit<Step, 'number'>): void {
    this.failed++
    if (this.failed < 3) this.story += `${call} ${path}; `
  }

  #refused(write: string, error: unknown): void {
    this.refused++
    const { code } = error as NodeJS.ErrnoException // looked at, whatever it is
    if (!/^E[A-Z]+$/.test(code ?? '')) throw new Error(`${write} failed as no disk does`, { cause: error })
  }
}

/** The same server goes on, with everything that it has. */
async function takesWrites({ registry }: CrashServer): Promise<void> {
  const actor = { id: 'id', name: 'Ann', email: 'ann@example.com' }
  await createArtifact(registry, workflowFamily, { slug: 'resumed', header: {}, loc: [] }, { actor })
}
