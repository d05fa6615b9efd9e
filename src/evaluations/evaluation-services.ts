import type { InvocationCaller } from '../invocation/invocation-request.ts'
import type { InvocationServices } from '../invocation/invoke.ts'
import type { Semaphore } from '../scheduling/semaphore.ts'
import type { ProjectTraces } from '../traces/project-traces.ts'
import type { Registry } from '../versioning/registry.ts'
import type { Revision } from '../versioning/revisions/revision.ts'
import type { WriteContext } from '../versioning/write-context.ts'

/** What is to be evaluated, by what. */
export interface EvaluationOrder {
  readonly testset: Revision
  readonly application: Revision
  readonly evaluators: readonly Revision[]
  readonly concurrency: number
}

/** Who has something evaluated. */
export interface Evaluator {
  readonly context: WriteContext
  readonly caller: InvocationCaller
}

/** What evaluations need beside what every invocation does. */
export interface EvaluationServices {
  readonly invocation: InvocationServices
  /** How many may run at once, those of other projects included. */
  readonly permits: Semaphore
  tracesOf(registry: Registry): Pick<ProjectTraces, 'stored' | 'remove'>
  /** Told of every evaluation that could not go on, and of a log that cannot be read. */
  onTrouble(error: unknown, evaluationId: string): void
}
