/** What a score comes to. */
export type Verdict = { readonly score: number; readonly success: boolean }

/** The verdict on a score: it succeeds where it reaches the threshold (contract/handlers 2.2). */
export function verdictOn(score: number, threshold: number): Verdict {
  return { score, success: score >= threshold }
}
