import { z } from 'zod'
import { parsedOrUndefined } from '../../base/json.ts'
import type { InvocationCaller } from '../invocation/invocation-request.ts'
import type { InvocationServices } from '../invocation/invoke.ts'
import type { Semaphore } from '../../base/scheduling.ts'
import type { ProjectTraces } from '../../feeds/traces.ts'
import type { Registry, WriteContext } from '../../registry/registries.ts'
import type { Revision } from '../../registry/revisions.ts'

export interface EvaluationOrder {
  readonly testset: Revision
  readonly application: Revision
  readonly evaluators: readonly Revision[]
  readonly concurrency: number
  /** The testcases to run; all if undefined. */
  readonly testcaseIds?: readonly string[] | undefined
  /** The finished evaluation of the same testset and application whose outputs are judged. Without it, the application runs. */
  readonly outputsFrom?: string
}

/** How to judge the outputs of an evaluation again. */
export interface JudgingOrder {
  readonly evaluators: readonly Revision[]
  /** By default that of the evaluation. */
  readonly concurrency?: number | undefined
}

/** The caller who starts an evaluation. */
export interface Evaluator {
  readonly context: WriteContext
  readonly caller: InvocationCaller
  /** What its key is limited to, if anything: rows are run as it sees the project. */
  readonly folders?: readonly string[] | undefined
}

/** The services that evaluations need besides those of every invocation. */
export interface EvaluationServices {
  readonly invocation: InvocationServices
  /** Limits the evaluations of all projects that run at once. */
  readonly permits: Semaphore
  tracesOf(registry: Registry): Pick<ProjectTraces, 'stored' | 'remove'>
  /** Called for each evaluation that failed, and for each log that cannot be read. */
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
  folders: z.array(z.string()).readonly().exactOptional(),
})

/** The identity and rights of the caller, for a server that takes over the evaluation. */
export function noteOf({ context: { actor }, caller: { mayRead, mayWrite }, folders }: Evaluator): string {
  const { id, name, email, mayDeploy } = actor
  const by = { id, name, email, ...(mayDeploy === undefined ? {} : { mayDeploy }) }
  return JSON.stringify({ actor: by, caller: { mayRead, mayWrite }, folders })
}

/** The caller in a note; undefined if the note is not valid. */
export function evaluatorIn(text: string): Evaluator | undefined {
  const read = note.safeParse(parsedOrUndefined(text))
  if (!read.success) return undefined
  const { actor, caller, folders } = read.data
  return { context: { actor }, caller, folders }
}
