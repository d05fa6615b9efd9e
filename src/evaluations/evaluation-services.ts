import { z } from 'zod'
import { parsedOrUndefined } from '../json/json-values.ts'
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
  /** The finished evaluation of the same testset and application whose outputs are judged; without one the application runs. */
  readonly outputsFrom?: string
}

/** With what an evaluation's outputs are judged anew. */
export interface JudgingOrder {
  readonly evaluators: readonly Revision[]
  /** As the evaluation's own unless given. */
  readonly concurrency?: number | undefined
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

const note = z.strictObject({
  actor: z.strictObject({
    id: z.string(),
    name: z.string(),
    email: z.string(),
    mayDeploy: z.boolean().exactOptional(),
  }),
  caller: z.strictObject({ mayRead: z.boolean(), mayWrite: z.boolean() }),
})

/** What another server needs to go on in the name of who had something evaluated. */
export function noteOf({ context: { actor }, caller: { mayRead, mayWrite } }: Evaluator): string {
  const { id, name, email, mayDeploy } = actor
  const by = { id, name, email, ...(mayDeploy === undefined ? {} : { mayDeploy }) }
  return JSON.stringify({ actor: by, caller: { mayRead, mayWrite } })
}

/** In whose name to go on; undefined where the note says nothing of that. */
export function evaluatorIn(text: string): Evaluator | undefined {
  const read = note.safeParse(parsedOrUndefined(text))
  return read.success ? { context: { actor: read.data.actor }, caller: read.data.caller } : undefined
}
