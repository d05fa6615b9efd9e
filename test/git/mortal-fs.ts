import type { Fs } from '../../src/storage/files/fs.ts'

/** What a dead process is told that goes on none the less. */
class Killed extends Error {
  constructor() {
    super('this process is dead')
  }
}

/** Lets nothing end this process that the dead ones in it throw. */
export function ignoreTheDead(): void {
  const ignore = (error: unknown): void => {
    if (error instanceof Killed) return
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
    process.exit(1)
  }
  process.on('uncaughtException', ignore)
  process.on('unhandledRejection', ignore)
}

export interface MortalFs {
  readonly fs: Fs
  /** Resolves when the process dies; whatever it would still do then is nobody's business. */
  readonly died: Promise<'killed'>
}

/** Calls that change what is on the disk, and count as steps. */
const STEPS = ['create', 'createSynced', 'createLog', 'makeDir', 'rename', 'link', 'remove', 'syncDir']

/**
 * A disk that a process can be cut off from: `before` is asked at each step and may have it die there. Nothing that the process does
 * afterwards reaches the disk, so that it leaves what it would leave if it were killed at this step; many that die so need one process
 * only, which has to end before others take its locks for those of a dead one.
 */
export function mortalFs(fs: Fs, before: (call: string, die: () => void) => void): MortalFs {
  let isDead = false
  let die = (): void => {}
  const died = new Promise<'killed'>((resolve) => {
    die = () => {
      isDead = true
      resolve('killed')
    }
  })
  const step = (call: string | undefined): void => {
    if (!isDead && call !== undefined) before(call, die)
    if (isDead) throw new Killed()
  }
  const guarded = Object.entries(fs).map(([name, call]: [string, unknown]) => {
    if (typeof call !== 'function') return [name, call] as const
    return [
      name,
      (...args: readonly unknown[]): unknown => {
        step(STEPS.includes(name) ? name : undefined)
        const answer: unknown = call(...args)
        return name === 'createLog' || name === 'createFile' ? handle(answer as object) : answer
      },
    ] as const
  })
  function handle(open: object): object {
    const calls = Object.entries(open).map(
      ([name, call]: [string, (...args: readonly unknown[]) => unknown]) => [
        name,
        (...args: readonly unknown[]) => {
          step(name === 'append' || name === 'sync' ? `log.${name}` : undefined)
          return call(...args)
        },
      ],
    )
    return { ...open, ...Object.fromEntries(calls) }
  }
  return { fs: Object.fromEntries(guarded) as unknown as Fs, died }
}
