import { Refusal } from '../../errors.ts'
import { type Handler, type HandlerContext, ReasonedVerdict, StreamedOutputs } from '../handlers/handler.ts'
import { HandlerFailure } from '../handlers/handler-failure.ts'
import { checkSchema } from '../handlers/worker/check-schema.ts'
import type { WorkerCaller } from '../handlers/worker/long-jobs.ts'
import { entriesOf, getKey, hasKey, type Json, type JsonObject, withKey } from '../../base/json.ts'
import { type OpenSpan, startTrace, type Span, type SpanReference } from '../../feeds/traces.ts'
import type { Registry, Reference } from '../../registry/registries.ts'
import { effective, handlerKeyOf, schemaOf } from './effective.ts'
import { findRunnable, type FoundRunnable } from './find-runnable.ts'
import type { InvocationRequest } from './invocation-request.ts'
import type { Revision } from '../../registry/revisions.ts'

/** The services that are the same for every run in a project. */
export type HandlerServices = Omit<HandlerContext, 'untilGone' | 'isPatient' | 'span'>

/** The services that invocations need. */
export interface InvocationServices {
  /** By the key of a managed uri. */
  readonly handlers: ReadonlyMap<string, Handler>
  /** How traces show versions; as numbers by default. */
  readonly versionType?: 'number' | 'string'
  /** The services that handlers may use in a project. */
  reach(registry: Registry): HandlerServices
  /** Records a finished trace. */
  record(registry: Registry, spans: readonly Span[]): void
}

/** A run that has begun, and its result: outputs, streamed outputs, or a failure. */
export interface Invocation {
  readonly traceId: string
  readonly spanId: string
  readonly result:
    { readonly outputs: Json } | { readonly stream: StreamedOutputs } | { readonly failure: HandlerFailure }
}

/**
 * Runs a workflow (interface 12.1): finds it, resolves its embeds, validates the inputs, runs its handler, validates the outputs. Every run
 * leaves one trace, even a failed one. Refuses a workflow that cannot be found or resolved; a failure of the run is part of the answer.
 */
export async function invoke(
  registry: Registry,
  request: InvocationRequest,
  services: InvocationServices,
): Promise<Invocation> {
  const found = await findRunnable(registry, request)
  const key = handlerKey(request, found)
  const span = startTrace(
    {
      traceId: request.spanIds?.traceId ?? request.parent?.traceId,
      spanId: request.spanIds?.spanId,
      parentId: request.parent?.spanId,
      sessionId: request.sessionId,
      links: request.links,
      isDraft: isDraft(request),
      record: (spans) => services.record(registry, spans),
    },
    key === undefined ? 'invoke' : `${key}_v0`,
  )
  const { traceId, spanId } = span
  try {
    describe(span, request, found, services)
    const outputs = await run(registry, request, services, found, key, span)
    if (outputs instanceof StreamedOutputs) return { traceId, spanId, result: { stream: outputs } }
    span.setData('outputs', outputs).end()
    return { traceId, spanId, result: { outputs } }
  } catch (error) {
    endFailed(span, error)
    if (error instanceof HandlerFailure) return { traceId, spanId, result: { failure: error } }
    throw error
  }
}

async function run(
  registry: Registry,
  request: InvocationRequest,
  services: InvocationServices,
  found: FoundRunnable,
  key: string | undefined,
  span: OpenSpan,
): Promise<Json | StreamedOutputs> {
  const handler = handlerNamed(key, services.handlers, found)
  const { data, parameters } = await effective(registry, request, found)
  span.setData('parameters', parameters)
  const reach = services.reach(registry)
  const { untilGone, isPatient = false } = request
  const secret = secretsFor(request, found, reach)
  const context: HandlerContext = { ...reach, secret, span, untilGone, isPatient }
  // The run is done and may have cost money, so its check waits instead of being refused when many wait.
  const patient: WorkerCaller = { project: reach.project, untilGone, isPatient: true }
  const inputsSchema = schemaOf(data, 'inputs')
  if (inputsSchema) await check(inputsSchema, 'inputs', request.inputs ?? NO_INPUTS, context)
  const result = await handler(
    {
      parameters,
      inputs: request.inputs,
      outputs: request.outputs,
      trace: request.trace,
      testcase: request.testcase,
      data,
      flags: request.flags ?? NO_INPUTS,
      judges: judges(request, found),
      wantsStream: request.wantsStream,
    },
    context,
  )
  const outputsSchema = schemaOf(data, 'outputs')
  if (result instanceof ReasonedVerdict) return reasoned(result, outputsSchema, span, patient)
  if (!(result instanceof StreamedOutputs)) {
    if (outputsSchema) await check(outputsSchema, 'outputs', result, patient)
    return result
  }
  const stream = recorded(result, span, async (outputs) => {
    if (outputsSchema) await check(outputsSchema, 'outputs', outputs, patient)
  })
  if (request.wantsStream) return stream
  for await (const _ of stream.pieces);
  return stream.whole()
}

const NO_INPUTS: JsonObject = {}

/**
 * Whether a workflow runs as an evaluator: the request says so or names it so; else it has only that role. With both roles or none, it runs
 * as an evaluator if there are outputs to judge.
 */
function judges({ judges: said, outputs }: InvocationRequest, { namedAs, stored }: FoundRunnable): boolean {
  if (said !== undefined) return said
  if (namedAs === 'evaluator' || namedAs === 'application') return namedAs === 'evaluator'
  const flags = stored?.artifact.record.flags
  const isEvaluator = flags?.['is_evaluator'] === true
  return isEvaluator === (flags?.['is_application'] === true) ? outputs !== undefined : isEvaluator
}

/**
 * The verdict. It includes the reason only if the schema allows one, so that evaluators that were stored with an older schema keep working.
 */
async function reasoned(
  { outputs, reason }: ReasonedVerdict,
  schema: JsonObject | undefined,
  span: OpenSpan,
  caller: WorkerCaller,
): Promise<Json> {
  span.setMessage(reason)
  const whole = hasKey(outputs, 'reason') ? outputs : withKey(outputs, 'reason', reason)
  if (!schema || (await checkSchema(schema, 'outputs', whole, caller)) === undefined) return whole
  await check(schema, 'outputs', outputs, caller)
  return outputs
}

/** The handler's key in the address or the workflow. */
function handlerKey({ key, revisionId }: InvocationRequest, { data }: FoundRunnable): string | undefined {
  const own = handlerKeyOf(data)
  if (key === undefined) return own
  if (revisionId !== undefined && own !== key) {
    throw new Refusal(
      'contradictory_request',
      `The revision ${revisionId} is not run by "${key}" but by ${own === undefined ? 'nothing' : `"${own}"`}. Invoke it at its data.url.`,
    )
  }
  return key
}

function handlerNamed(
  key: string | undefined,
  handlers: InvocationServices['handlers'],
  { data, stored, inline }: FoundRunnable,
): Handler {
  const handler = key === undefined ? undefined : handlers.get(key)
  if (handler) return handler
  if (key === undefined) throw noHandler(getKey(data, 'uri'), stored, inline)
  throw new HandlerFailure(
    'v0:workflows:not-implemented',
    `"${key}" can be stored here but not run: it needs a runner of its own. Read its configuration from the revision and run it there.`,
  )
}

/** The refusal, with a remedy, of a workflow that names neither a handler nor the url of its own (interface 12.2). */
function noHandler(
  uri: Json | undefined,
  stored: FoundRunnable['stored'],
  inline: FoundRunnable['inline'],
): HandlerFailure {
  const workflow = stored ? `The revision ${stored.slug}` : 'The workflow in data.revision'
  const hint =
    typeof uri === 'string'
      ? `${workflow} has a handler of its own; set its data.url, where that is called.`
      : stored || inline
        ? `${workflow} names no handler; set its data.uri, such as svc:builtin:completion:v0.`
        : 'The request names no workflow; send references, or a workflow in data.revision with a data.uri, such as svc:builtin:completion:v0.'
  return new HandlerFailure(
    'v0:interface:invalid-uri',
    `Invalid uri:\n${hint}\nGot '${typeof uri === 'string' ? uri : 'None'}'.`,
  )
}

/** Fails if a value violates its schema: inputs before anything runs (422), outputs as a failure of the handler (424; interface 12.3). */
async function check(
  schema: JsonObject,
  part: 'inputs' | 'outputs',
  value: Json,
  caller: WorkerCaller,
): Promise<void> {
  const problem = await checkSchema(schema, part, value, caller)
  if (problem === undefined) return
  throw part === 'inputs'
    ? new HandlerFailure('v0:schemas:invalid-inputs', `Invalid inputs:\n${problem}.`, undefined, 422)
    : new HandlerFailure('v0:schemas:invalid-outputs', `Invalid outputs:\n${problem}.`, undefined, 424)
}

/** The project's secrets; none for a workflow in the request of a caller who may not store workflows. */
function secretsFor(
  { caller }: InvocationRequest,
  { inline }: FoundRunnable,
  reach: HandlerServices,
): HandlerServices['secret'] {
  if (!inline || caller.mayWrite) return reach.secret
  return () => {
    throw new Refusal(
      'missing_scope',
      'The workflow that the request brings uses a secret of the project, which takes a key with the scope write. Commit it and refer to the revision.',
    )
  }
}

/** Streams the outputs, then validates and records them when they are complete. */
function recorded(
  stream: StreamedOutputs,
  span: OpenSpan,
  checkOutputs: (outputs: Json) => Promise<void>,
): StreamedOutputs {
  async function* pieces(): AsyncGenerator<JsonObject> {
    try {
      yield* stream.pieces
      const whole = stream.whole()
      await checkOutputs(whole)
      span.setData('outputs', whole)
    } catch (error) {
      failSpan(span, error)
      throw error
    } finally {
      span.end()
    }
  }
  return new StreamedOutputs(pieces(), stream.whole)
}

/** The description of a run at its start, for the trace (interface 12.8). */
function describe(
  span: OpenSpan,
  request: InvocationRequest,
  found: FoundRunnable,
  { versionType }: InvocationServices,
): void {
  const { inputs, outputs, trace, testcase, flags, selectorKey } = request
  const args: Record<string, Json> = { inputs: inputs ?? null }
  if (outputs !== undefined) args['outputs'] = outputs
  if (trace !== undefined) args['trace'] = trace
  if (testcase !== undefined) args['testcase'] = testcase
  span.setData('inputs', args)
  if (flags && entriesOf(flags).length > 0) span.setAttribute('flags', flags)
  const key = found.through?.key ?? selectorKey
  if (key !== undefined) span.setAttribute('selector', { key })
  span.setReferences(traceReferences(request, found, versionType))
}

/** Whether the request brings what is run, or its parameters, and names no revision (interface 12.15). */
function isDraft({ inline, parameters, revisionId, references }: InvocationRequest): boolean {
  if (!inline && !parameters) return false
  const named = revisionId ?? inline?.id
  return named === undefined && !['workflow', ...ROLES].some((role) => references?.has(`${role}_revision`))
}

function endFailed(span: OpenSpan, error: unknown): void {
  failSpan(span, error)
  span.end()
}

function failSpan(span: OpenSpan, error: unknown): void {
  if (error instanceof HandlerFailure)
    span.fail({ type: error.code, message: error.message, stacktrace: error.stacktrace })
  else if (error instanceof Refusal)
    span.fail({ type: error.code, message: error.message, stacktrace: undefined })
  // A bug: the log has its details, the trace only that there was one.
  else
    span.fail({
      type: 'internal_error',
      message: 'The server failed in a way it did not expect.',
      stacktrace: undefined,
    })
}

/**
 * The references of a trace (interface 12.1, 12.8): the workflow, its variant and revision as `workflow…` and under the names of its roles,
 * the environment that led to it, and further references of the request.
 */
function traceReferences(
  { references }: InvocationRequest,
  { stored, inline, through }: FoundRunnable,
  type: VersionType = 'number',
): ReadonlyMap<string, SpanReference> {
  const own = stored ? storedReferences(stored, type) : NONE
  const isNamed = inline && (inline.id ?? inline.slug) !== undefined
  if (!references && !isNamed && !through) return own
  const named = new Map<string, SpanReference>()
  if (references) for (const [name, reference] of references) named.set(name, sent(reference, type))
  if (isNamed) named.set('workflow_revision', sent(inline, type))
  if (through) addRevision(named, 'environment', through.environment, type)
  for (const [name, reference] of own) named.set(name, reference)
  return named
}

type VersionType = 'number' | 'string'

function asType(version: number, type: VersionType): number | string {
  return type === 'string' ? String(version) : version
}

const NONE: ReadonlyMap<string, SpanReference> = new Map()

const known = new WeakMap<Revision, ReadonlyMap<string, SpanReference>>()

/** The references of every run of a revision; the same map each time, so that values derived from it can be reused. */
function storedReferences(revision: Revision, type: VersionType): ReadonlyMap<string, SpanReference> {
  const before = known.get(revision)
  if (before) return before
  const flags = revision.artifact.record.flags ?? {}
  const references = new Map<string, SpanReference>()
  for (const role of ['workflow', ...ROLES.filter((it) => flags[`is_${it}`] === true)])
    addRevision(references, role, revision, type)
  known.set(revision, references)
  return references
}

/** Roles under which clients search traces, besides `workflow`. */
const ROLES = ['application', 'evaluator', 'snippet']

function addRevision(
  references: Map<string, SpanReference>,
  name: string,
  { artifact, variant, id, slug, version }: Revision,
  type: VersionType,
): void {
  references
    .set(name, { id: artifact.id, slug: artifact.slug })
    .set(`${name}_variant`, { id: variant.id, slug: variant.slug })
    .set(`${name}_revision`, { id, slug, version: asType(version, type) })
}

function sent({ id, slug, version }: Reference, type: VersionType): SpanReference {
  return { id, slug, version: version === undefined ? undefined : asType(version, type) }
}
