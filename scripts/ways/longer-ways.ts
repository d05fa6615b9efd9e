import type { MeasuredWay } from './measure-ways.ts'

/** How long a way may be. */
export interface WayFigures {
  readonly files: number
  readonly functions: number
  readonly lines: number
}

/**
 * A sentence for each figure of a way that is more than it may be. What a request leaves to be done later meets other work now and then, and then
 * runs a function that it did not run the last time: so many more are no longer way.
 */
export function longerWays(
  allowed: ReadonlyMap<string, WayFigures>,
  ways: readonly Pick<MeasuredWay, 'name' | 'counted'>[],
): readonly string[] {
  return ways.flatMap(({ name, counted }) => {
    const most = allowed.get(name)
    if (!most) return [`docs/architecture.md has no figures of the way ${name}: run npm run ways`]
    const is: WayFigures = { ...counted, files: counted.files.length }
    return FIGURES.filter((figure) => is[figure] > most[figure] + SPARE[figure]).map(
      (figure) =>
        `${name} runs ${is[figure]} ${figure}, and docs/architecture.md says ${most[figure]}: make it shorter, or say in the commit why it is ` +
        'longer and run npm run ways',
    )
  })
}

const FIGURES = ['files', 'functions', 'lines'] as const

const SPARE: WayFigures = { files: 0, functions: 8, lines: 80 }
