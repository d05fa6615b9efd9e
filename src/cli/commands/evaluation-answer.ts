import { z } from 'zod'
import { type Json, plainJson } from '../../base/json.ts'

const pinned = z.object({ revision_slug: z.string() })

const amounts = z.object({ prompt: z.number(), completion: z.number(), total: z.number() })

const evaluation = z.object({
  id: z.string(),
  state: z.enum(['running', 'finished', 'interrupted']),
  created_at: z.string(),
  finished_at: z.string().optional(),
  testset: pinned,
  application: pinned,
  evaluators: z.array(pinned.extend({ name: z.string() })),
  rows: z.number(),
  summary: z.object({
    done: z.number(),
    failed: z.number(),
    evaluators: z.record(
      z.string(),
      z.object({
        scored: z.number(),
        passed: z.number(),
        failed: z.number().optional(),
        errors: z.number(),
        mean_score: z.number().nullable(),
        mean_rows: z.number().optional(),
        success_rate: z.number().nullable(),
      }),
    ),
    usage: z
      .object({ duration_ms: z.number(), tokens: amounts.optional(), costs: amounts.optional() })
      .optional(),
  }),
})

/** The fields of an evaluation that are shown. */
export type EvaluationAnswer = z.infer<typeof evaluation>

const line = z.union([
  z.object({ type: z.enum(['progress', 'result']), data: z.object({ evaluation }) }),
  z.object({ type: z.literal('error'), data: z.object({ message: z.string() }) }),
])

/** A line of the server's stream: the progress, or why the evaluation cannot go on. */
export function evaluationAnswer(value: Json): EvaluationAnswer | { readonly message: string } {
  const { data } = line.parse(plainJson(value))
  return 'evaluation' in data ? data.evaluation : data
}
