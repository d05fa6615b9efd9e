import { z } from 'zod'
import { Refusal, invalid } from '../../errors.ts'
import {
  type Evaluator,
  type Evaluation,
  MOST_AT_ONCE,
  RESULT_ORDERS,
  type ProjectEvaluations,
  type RunningEvaluation,
} from '../../run/evaluations.ts'
import { stringifyJson } from '../../base/json.ts'
import { handlerOf } from '../../registry/workflows.ts'
import { documentOf } from '../../registry/families.ts'
import { cutWindow, type Reference, type Registry } from '../../registry/registries.ts'
import {
  type RetrieveReferences,
  retrieveRevision,
  type Revision,
  readRevisionAt,
} from '../../registry/revisions.ts'
import { STREAM_TYPES, negotiateOutput } from '../invocation/wanted-form.ts'
import { type Call, type Endpoint, type EndpointResponse, endpoint } from '../routing/endpoint.ts'
import { respondWithList } from '../routing/send.ts'
import { envelope, retrieveReferences } from '../schemas/spellings.ts'
import {
  evaluationRecord,
  evaluationResult,
  MAX_TESTCASE_IDS,
  presentEvaluation,
  resultFilter,
} from '../schemas/evaluation.ts'
import { queryFilters } from '../schemas/queries/query-parameters.ts'
import { list, pagedList, single } from '../schemas/record-schemas.ts'
import { reference, uuid, windowing } from '../schemas/request-schemas.ts'
import type { SurfaceContext } from '../surface-context.ts'

/** Runs testsets through applications and evaluators. */
export function evaluationEndpoints(
  evaluationsOf: (registry: Registry) => ProjectEvaluations,
  surfaces: readonly SurfaceContext[],
): Endpoint[] {
  const [testsets, applications, evaluators] = ['testset', 'application', 'evaluator'].map((singular) =>
    surfaceNamed(surfaces, singular),
  ) as [SurfaceContext, SurfaceContext, SurfaceContext] // one for each name
  const tag = 'evaluations'
  const output = single('evaluation', evaluationRecord)
  const order = z.intersection(
    z.intersection(
      // An environment names the application, because testsets are not deployed.
      retrieveReferences(testsets.names).transform(({ artifact, variant, revision }) => ({
        testset: { artifact, variant, revision },
      })),
      retrieveReferences(applications.names).transform((application) => ({ application })),
    ),
    envelope({
      ...judging,
      testcaseIds: {
        names: ['testcase_ids'],
        schema: testcaseIds.meta({ description: 'Runs these rows of the testset only.' }),
      },
    }),
  )
  const judgesOf = async ({ registry, input }: Call<JudgesNamed>): Promise<Revision[]> => {
    const wanted: RetrieveReferences[] = [
      ...(input.revisions ?? []).map((it: Reference) => ({ revision: it })),
      ...(input.artifacts ?? []).map((it: Reference) => ({ artifact: it })),
    ]
    const judges = await Promise.all(wanted.map((it) => revisionNamed(registry, evaluators, it)))
    for (const judge of judges) assertRunnable(judge)
    return judges
  }
  const begun = (call: Call<{ readonly wait?: boolean | undefined }>, running: RunningEvaluation) => ({
    ...(call.input.wait === false ? answer(running.now()) : follow(call, running)),
    address: { id: running.plan.id },
  })

  return [
    endpoint({
      method: 'POST',
      path: '/evaluations/run',
      tag,
      summary: 'Run every row of a testset through an application, and what comes out through evaluators',
      scope: 'invoke',
      showsAll: true,
      input: order,
      output,
      streams: STREAM_TYPES,
      example: {
        testset_revision_ref: { slug: 'capitals', version: 1 },
        application_revision_ref: { slug: 'support-bot', version: 2 },
        evaluator_revision_refs: [{ slug: 'exact', version: 1 }],
        concurrency: 4,
      },
      run: async (call) => {
        const { registry, input } = call
        const application = await revisionNamed(registry, applications, input.application)
        assertRunnable(application)
        const running = await evaluationsOf(registry).start(
          {
            testset: await revisionNamed(registry, testsets, input.testset),
            application,
            evaluators: await judgesOf(call),
            concurrency: input.concurrency ?? 4,
            testcaseIds: input.testcaseIds,
          },
          evaluatorOf(call),
        )
        return begun(call, running)
      },
      recall: async ({ registry }, { id }) => answer(await evaluationsOf(registry).get(id)),
    }),
    endpoint({
      method: 'POST',
      path: '/evaluations/:id/judge',
      tag,
      summary:
        'Have the outputs of a finished evaluation judged by evaluators, as a new evaluation: the application is not run again',
      scope: 'invoke',
      showsAll: true,
      input: envelope(judging),
      output,
      streams: STREAM_TYPES,
      example: { evaluator_revision_refs: [{ slug: 'exact', version: 2 }] },
      run: async (call) => {
        const { registry, input, params } = call
        const judges = await judgesOf(call)
        if (judges.length === 0) {
          throw invalid(
            ['body', 'evaluator_refs'],
            'no evaluator is named, so nothing would judge. Name some in "evaluator_refs" or "evaluator_revision_refs"',
            'missing',
          )
        }
        const order = { evaluators: judges, concurrency: input.concurrency }
        return begun(call, await evaluationsOf(registry).judge(params['id'] ?? '', order, evaluatorOf(call)))
      },
      recall: async ({ registry }, { id }) => answer(await evaluationsOf(registry).get(id)),
    }),
    endpoint({
      method: 'POST',
      path: '/evaluations/:id/resume',
      tag,
      summary: 'Go on with an evaluation that was interrupted; rows that are done are not run again',
      scope: 'invoke',
      showsAll: true,
      optionalBody: true,
      input: envelope({ wait }),
      output,
      streams: STREAM_TYPES,
      run: async (call) => {
        const running = await evaluationsOf(call.registry).resume(call.params['id'] ?? '', evaluatorOf(call))
        return call.input.wait === false ? answer(running.now()) : follow(call, running)
      },
    }),
    endpoint({
      method: 'POST',
      path: '/evaluations/:id/rerun',
      tag,
      summary:
        'Run rows of a finished evaluation again, with its revisions; their results and traces are replaced',
      scope: 'invoke',
      showsAll: true,
      input: envelope({
        testcaseIds: {
          names: ['testcase_ids'],
          schema: testcaseIds,
          required: true,
        },
        wait,
      }),
      output,
      streams: STREAM_TYPES,
      example: { testcase_ids: ['019b2c6e-7a10-8c3e-9d41-6f2a7c1e5b80'] },
      run: async (call) => {
        const { registry, input, params } = call
        const ids = input.testcaseIds
        return begun(call, await evaluationsOf(registry).rerun(params['id'] ?? '', ids, evaluatorOf(call)))
      },
      recall: async ({ registry }, { id }) => answer(await evaluationsOf(registry).get(id)),
    }),
    endpoint({
      method: 'POST',
      path: '/evaluations/:id/stop',
      tag,
      summary: 'Interrupt an evaluation',
      scope: 'invoke',
      showsAll: true,
      output,
      run: async ({ registry, params }) => answer(await evaluationsOf(registry).stop(params['id'] ?? '')),
    }),
    endpoint({
      method: 'GET',
      path: '/evaluations/:id',
      tag,
      summary: 'How far an evaluation is, or what it came to',
      scope: 'read',
      orScope: 'invoke',
      showsAll: true,
      output,
      run: async ({ registry, params }) => answer(await evaluationsOf(registry).get(params['id'] ?? '')),
    }),
    endpoint({
      method: 'POST',
      path: '/evaluations/query',
      tag,
      summary: 'List evaluations',
      scope: 'read',
      optionalBody: true,
      input: envelope({
        filter: {
          names: ['evaluation'],
          schema: z.object({
            state: z.enum(['running', 'finished', 'interrupted']).optional(),
            application_id: uuid.optional(),
            application_revision_id: uuid.optional(),
            testset_revision_id: uuid.optional(),
          }),
        },
        windowing: { names: ['windowing'], schema: windowing },
      }),
      fromQuery: queryFilters(['evaluation'], []),
      output: list('evaluations', evaluationRecord),
      example: { evaluation: { state: 'finished' }, windowing: { limit: 20 } },
      run: async ({ registry, input }) => {
        const rows = (await evaluationsOf(registry).list()).map((value) => ({
          id: value.plan.id,
          createdAt: value.plan.created_at,
          value,
        }))
        const { filter = {} } = input
        const window = await cutWindow(rows, input.windowing, ({ plan, state }) =>
          [
            [filter.state, state],
            [filter.application_id, plan.application.artifact_id],
            [filter.application_revision_id, plan.application.revision_id],
            [filter.testset_revision_id, plan.testset.revision_id],
          ].every(([asked, is]) => asked === undefined || asked === is),
        )
        return respondWithList('evaluations', window, input.windowing, window.rows.map(presentEvaluation))
      },
    }),
    endpoint({
      method: 'POST',
      path: '/evaluations/:id/results',
      tag,
      summary:
        'What came of each row: in the order of the testset once the evaluation has finished, until then in the order in which they were done',
      scope: 'read',
      optionalBody: true,
      input: envelope({
        filter: { names: ['result'], schema: resultFilter },
        order: {
          names: ['order'],
          schema: z.enum(RESULT_ORDERS).meta({
            description:
              'The order of the answer: `done`, as the rows were done, or `testset`. A page after the first keeps the order that its `next` is of.',
          }),
        },
        windowing: { names: ['windowing'], schema: resultWindowing },
      }),
      output: pagedList('results', evaluationResult),
      example: { result: { outcome: 'failed' }, windowing: { limit: 100 } },
      run: async ({ registry, params, input }) => {
        const { windowing: asked = {}, filter = {}, order: by } = input
        const wanted = { ...filter, ...asked, order: by }
        const window = await evaluationsOf(registry).results(params['id'] ?? '', wanted)
        return respondWithList('results', window, { order: 'ascending', ...asked }, window.rows)
      },
    }),
  ]
}

const MOST_EVALUATORS = 50

const testcaseIds = z.array(uuid).min(1).max(MAX_TESTCASE_IDS)

const wait = {
  names: ['wait'],
  schema: z.boolean().meta({ description: 'false answers at once; the evaluation goes on by itself.' }),
} as const

/** The evaluators, and how they run. */
const judging = {
  revisions: { names: ['evaluator_revision_refs'], schema: z.array(reference).max(MOST_EVALUATORS) },
  artifacts: { names: ['evaluator_refs'], schema: z.array(reference).max(MOST_EVALUATORS) },
  concurrency: { names: ['concurrency'], schema: z.int().min(1).max(MOST_AT_ONCE) },
  wait,
} as const

interface JudgesNamed {
  readonly revisions?: readonly Reference[] | undefined
  readonly artifacts?: readonly Reference[] | undefined
}

const resultWindowing = z.object({
  limit: z.number().int('must be a whole number').min(1, 'must be at least 1').optional(),
  next: z
    .string()
    .regex(
      /^(done:)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
      'is no cursor; send the `next` of the previous answer',
    )
    .transform((cursor) => cursor.toLowerCase())
    .optional(),
})

function surfaceNamed(surfaces: readonly SurfaceContext[], singular: string): SurfaceContext {
  const found = surfaces.find(({ surface }) => surface.singular === singular)
  if (!found) throw new Error(`there is no surface of ${singular}s`)
  return found
}

async function revisionNamed(
  registry: Registry,
  { surface }: SurfaceContext,
  references: RetrieveReferences,
): Promise<Revision> {
  return readRevisionAt(await retrieveRevision(registry, surface.family, references, surface))
}

/** Refuses a revision that cannot run before a whole testset fails on it. */
function assertRunnable({ slug, stored }: Revision): void {
  if (stored.payload && handlerOf(documentOf(stored.payload))) return
  throw new Refusal(
    'contradictory_request',
    `The revision "${slug}" names no handler, so it cannot run. Commit one with a data.uri, such as svc:builtin:completion:v0.`,
  )
}

function evaluatorOf({ context, caller: { may, key } }: Call<unknown>): Evaluator {
  return { context, caller: { mayRead: may.read, mayWrite: may.write }, folders: key.folders }
}

function answer(evaluation: Evaluation): EndpointResponse {
  return { body: { count: 1, evaluation: presentEvaluation(evaluation) } }
}

/**
 * The finished evaluation, or its progress if the client accepts a stream. The evaluation continues without
 * listeners.
 */
function follow({ headers, untilGone }: Call<unknown>, running: RunningEvaluation): EndpointResponse {
  const form = negotiateOutput(headers.accept, undefined)
  if (form === 'json') return { contentType: JSON_TYPE, stream: ending(running, untilGone()) }
  const isEvents = form === 'events'
  return {
    headers: { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
    contentType: isEvents ? 'text/event-stream; charset=utf-8' : 'application/x-ndjson; charset=utf-8',
    stream: lines(running, isEvents),
  }
}

const JSON_TYPE = 'application/json; charset=utf-8'

/**
 * Yields one piece, so that an earlier failure can still be an error response. A repeated request need not
 * wait for this one.
 */
async function* ending(running: RunningEvaluation, gone: AbortSignal): AsyncGenerator<string> {
  // Ends the request when its client leaves; the evaluation may run for hours.
  const left = new Promise<never>((_, reject) => {
    const leave = (): void => reject(gone.reason as Error) // the error of a departed client
    if (gone.aborted) leave()
    else gone.addEventListener('abort', leave, { once: true })
  })
  yield stringifyJson({
    count: 1,
    evaluation: presentEvaluation(await Promise.race([running.outcome, left])),
  })
}

async function* lines(running: RunningEvaluation, isEvents: boolean): AsyncGenerator<string> {
  const line = (record: object): string => {
    const text = stringifyJson(record)
    return isEvents ? `data: ${text}\n\n` : `${text}\n`
  }
  try {
    for await (const evaluation of running.progress()) {
      const type = evaluation.state === 'running' ? 'progress' : 'result'
      yield line({ type, data: { evaluation: presentEvaluation(evaluation) } })
    }
  } catch (error) {
    const message =
      error instanceof Refusal ? error.message : 'The evaluation could not go on; the log says why.'
    yield line({ type: 'error', data: { message } })
    if (!(error instanceof Refusal)) throw error
  }
}
