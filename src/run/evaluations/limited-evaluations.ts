import { Refusal } from '../../errors.ts'
import type { Registry } from '../../registry/registries.ts'
import type { Evaluation } from './evaluation.ts'
import type { ProjectEvaluations } from './project-evaluations.ts'

/**
 * The evaluations that a key limited to folders sees (interface 18.8): those of which it sees the testset, the application and every
 * evaluator. Any other one is not there.
 */
export function limitedEvaluations(
  evaluations: ProjectEvaluations,
  limit: Pick<NonNullable<Registry['limit']>, 'seesId'>,
): ProjectEvaluations {
  const isSeen = ({ plan: { testset, application, evaluators } }: Evaluation): boolean =>
    [testset, application, ...evaluators].every((it) => limit.seesId(it.artifact_id))
  const seen = async (id: string): Promise<Evaluation> => {
    const evaluation = await evaluations.get(id)
    if (isSeen(evaluation)) return evaluation
    throw new Refusal(
      'evaluation_not_found',
      `There is no evaluation with the id ${id}. List them with POST /evaluations/query.`,
    )
  }
  const limited: Partial<ProjectEvaluations> = {
    start: (order, by) => evaluations.start(order, by),
    get: seen,
    list: async () => (await evaluations.list()).filter(isSeen),
    judge: async (id, order, by) => {
      await seen(id)
      return evaluations.judge(id, order, by)
    },
    resume: async (id, by) => {
      await seen(id)
      return evaluations.resume(id, by)
    },
    rerun: async (id, testcaseIds, by) => {
      await seen(id)
      return evaluations.rerun(id, testcaseIds, by)
    },
    stop: async (id) => {
      await seen(id)
      return evaluations.stop(id)
    },
    results: async (id, asked) => {
      await seen(id)
      return evaluations.results(id, asked)
    },
  }
  return limited as ProjectEvaluations // requests of such keys use no more of it
}
