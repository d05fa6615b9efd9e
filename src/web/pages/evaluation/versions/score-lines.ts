import type { Evaluation } from '../../../parts/evaluation/evaluation-state.tsx'

/** Which of a run's numbers is drawn. */
export type Metric = 'rate' | 'score'

/** What a chart of runs shows. */
export interface ScoreLines {
  /** The evaluators' revisions that judged any of them. */
  readonly judges: readonly JudgeRevision[]
  readonly versions: readonly number[]
  readonly lines: readonly { readonly name: string; readonly values: readonly (number | null)[] }[]
  readonly range: readonly [number, number]
}

/** A revision of an evaluator. */
export interface JudgeRevision {
  readonly id: string
  /** The evaluator and its version. */
  readonly label: string
  readonly evaluator: string
}

/**
 * A line for each revision of an evaluator over the versions: what two revisions say is not comparable, so no line goes from one to the
 * other. Of several runs of a version that it judged the newest counts. `runs` are newest first.
 */
export function scoreLines(runs: readonly Evaluation[], metric: Metric): ScoreLines {
  const judges = new Map<string, JudgeRevision>()
  for (const { evaluators } of runs) {
    for (const { revision_id: id, revision_slug: slug, artifact_slug: evaluator, version } of evaluators) {
      if (judges.has(id)) continue
      const label = `${evaluator} v${version}`
      // Two variants of an evaluator may have a version of one number.
      const isTaken = [...judges.values()].some((it) => it.label === label)
      judges.set(id, { id, label: isTaken ? slug : label, evaluator })
    }
  }
  const versions = [...new Set(runs.map(({ application }) => application.version))].sort(
    (left, right) => left - right,
  )
  const lines = [...judges.values()]
    .map(({ id, label }) => {
      const newest = new Map<number, number | null>()
      for (const run of runs) {
        const { version } = run.application
        if (run.evaluators.some((it) => it.revision_id === id) && !newest.has(version))
          newest.set(version, valueOf(run, id, metric))
      }
      return { name: label, values: versions.map((version) => newest.get(version) ?? null) }
    })
    .filter(({ values }) => values.some((value) => value !== null))
  const seen = lines.flatMap(({ values }) => values.filter((value) => value !== null))
  const least = seen.reduce((least, value) => Math.min(least, value), 0)
  const most = seen.reduce((most, value) => Math.max(most, value), 1)
  return { judges: [...judges.values()], versions, lines, range: [least, most] }
}

/** What a run came to by a revision of an evaluator; null where that did not judge it. */
export function valueOf(run: Evaluation, revisionId: string, metric: Metric): number | null {
  const name = run.evaluators.find((it) => it.revision_id === revisionId)?.name
  const summary = name === undefined ? undefined : run.summary.evaluators[name]
  return (metric === 'rate' ? summary?.success_rate : summary?.mean_score) ?? null
}
