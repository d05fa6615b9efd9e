import type { EvaluationAnswer } from './evaluation-answer.ts'

/**
 * The result of an evaluation as a table, readable in a terminal and as Markdown. For each evaluator, by the slug of its revision: how many
 * rows passed, failed, made the evaluator fail, or were not evaluated because the application failed; and the mean score with its number of
 * rows. The title has the cost, if it is known.
 */
export function resultTable(evaluation: EvaluationAnswer): string {
  const { application, testset, evaluators, rows, summary, ...times } = evaluation
  const head = ['evaluator', 'passed', 'failed', 'errors', 'not run', 'mean score']
  const revisions = new Map(evaluators.map(({ name, revision_slug: slug }) => [name, slug]))
  const lines = Object.entries(summary.evaluators).map(([name, it]) => [
    revisions.get(name) ?? name,
    `${it.passed} of ${summary.done} (${percent(it.success_rate)})`,
    it.failed === undefined ? '-' : String(it.failed),
    String(it.errors),
    String(summary.failed),
    it.mean_score === null ? '-' : `${it.mean_score.toFixed(3)} over ${it.mean_rows ?? it.scored}`,
  ])
  const widths = head.map((title, column) =>
    lines.reduce((widest, line) => Math.max(widest, line[column]?.length ?? 0), title.length),
  )
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`
  const rule = `|${widths.map((width, column) => (column === 0 ? `:${'-'.repeat(width + 1)}` : `${'-'.repeat(width + 1)}:`)).join('|')}|`
  const title = `${application.revision_slug} with ${testset.revision_slug}: ${summary.done} of ${rows} rows${took(times)}, the application failed on ${summary.failed}${cost(summary)}`
  return `${[title, '', row(head), rule, ...lines.map(row)].join('\n')}\n`
}

/** What the calls of models cost, where all prices are known. */
function cost({ usage }: EvaluationAnswer['summary']): string {
  if (!usage?.costs || !usage.tokens) return ''
  const dollars = Number(usage.costs.total.toPrecision(2))
  return `, at a cost of $${dollars} (${usage.tokens.total.toLocaleString('en')} tokens)`
}

function percent(share: number | null): string {
  return share === null ? '-' : `${(share * 100).toFixed(1)} %`
}

function took({ created_at, finished_at }: Pick<EvaluationAnswer, 'created_at' | 'finished_at'>): string {
  if (finished_at === undefined) return ''
  return ` in ${((Date.parse(finished_at) - Date.parse(created_at)) / 1000).toFixed(1)} s`
}
