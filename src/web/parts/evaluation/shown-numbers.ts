/** `66.7 %` of 0.667; an en dash where there is no rate. */
export function percent(rate: number | null | undefined): string {
  return rate === null || rate === undefined ? '–' : `${(100 * rate).toFixed(1)} %`
}

/** A score with three digits behind the point; an en dash where there is none. */
export function shownScore(score: number | null | undefined): string {
  return score === null || score === undefined ? '–' : score.toFixed(3)
}
