import type { Evaluation } from '../../../parts/evaluation/evaluation-state.tsx'

/** Which of a run's numbers is drawn. */
export type Metric = 'rate' | 'score'

/** What a chart of runs shows. */
export interface ScoreLines {
  /** The evaluators that took part in any of them. */
  readonly names: readonly string[]
  readonly versions: readonly number[]
  readonly lines: readonly { readonly name: string; readonly values: readonly (number | null)[] }[]
  readonly range: readonly [number, number]
}

/** A line an evaluator over the versions; of several runs of a version the newest counts. `runs` are newest first. */
export function scoreLines(runs: readonly Evaluation[], metric: Metric): ScoreLines {
  const newest = new Map<number, Evaluation>()
  for (const run of runs) if (!newest.has(run.application.version)) newest.set(run.application.version, run)
  const versions = [...newest.keys()].sort((left, right) => left - right)
  const names = [...new Set(runs.flatMap(({ evaluators }) => evaluators.map(({ name }) => name)))]
  const lines = names
    .map((name) => ({
      name,
      values: versions.map((version) => valueOf(newest.get(version)?.summary.evaluators[name], metric)),
    }))
    .filter(({ values }) => values.some((value) => value !== null))
  const seen = lines.flatMap(({ values }) => values.filter((value) => value !== null))
  const least = seen.reduce((least, value) => Math.min(least, value), 0)
  const most = seen.reduce((most, value) => Math.max(most, value), 1)
  return { names, versions, lines, range: [least, most] }
}

function valueOf(
  summary: Evaluation['summary']['evaluators'][string] | undefined,
  metric: Metric,
): number | null {
  return (metric === 'rate' ? summary?.success_rate : summary?.mean_score) ?? null
}
