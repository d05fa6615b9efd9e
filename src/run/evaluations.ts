export { limitedEvaluations } from './evaluations/limited-evaluations.ts'
export type { EvaluationServices, Evaluator } from './evaluations/evaluation-services.ts'
export {
  type Evaluation,
  MOST_AT_ONCE,
  type PinnedRevision,
  RESULT_ORDERS,
  RESULT_OUTCOMES,
} from './evaluations/evaluation.ts'
export { readLogLine } from './evaluations/log-lines.ts'
export { ProjectEvaluations } from './evaluations/project-evaluations.ts'
export { RunningEvaluation } from './evaluations/running-evaluation.ts'
