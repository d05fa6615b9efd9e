import { z } from 'zod'

/** What a figure is held against, in its own unit. */
export const goal = z.object({ is: z.enum(['≤', '≥', '=']), value: z.number() })

export type Goal = z.infer<typeof goal>

/** One row of the table, as the JSON file holds it. To be read, not a test. */
export const figure = z.object({
  /** What was measured; a comparison knows the figure by it, so it holds sizes but no results. */
  work: z.string(),
  /** A ratio to a floor of the same run, or a time, size or rate. */
  value: z.number(),
  /** `×` and `%` are ratios. */
  unit: z.string(),
  /** The least and the most that single rounds gave; absent where there was one. */
  spread: z.object({ least: z.number(), most: z.number() }).optional(),
  /** The medians that a ratio is made of, in a unit of their own. */
  against: z.object({ ours: z.number(), floor: z.number(), unit: z.string() }).optional(),
  goal,
  met: z.boolean(),
  /** What else is worth knowing of this run. */
  note: z.string().optional(),
})

export type Figure = z.infer<typeof figure>
