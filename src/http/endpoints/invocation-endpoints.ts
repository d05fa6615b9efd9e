import { z } from 'zod'
import type { Caller } from '../../access/keys.ts'
import { Refusal } from '../../errors.ts'
import type { ProjectTraces, SpanLink } from '../../feeds/traces.ts'
import type { Registry } from '../../registry/registries.ts'
import { findRunnable, inspect, type InvocationServices, invoke } from '../../run/invocation.ts'
import { handlerTable } from '../../run/handlers.ts'
import type { EndpointResponse, Call, Endpoint } from '../routing/endpoint.ts'
import { endpoint } from '../routing/endpoint.ts'
import { invokeResponse, invokeOutput } from '../invocation/invoke-answer.ts'
import { flagsOf } from '../invocation/flags-of.ts'
import type { InspectInput, InvokeInput } from '../invocation/invoke-input.ts'
import { inspectInput, invokeInput } from '../invocation/invoke-input.ts'
import { inspectOutput, presentInspection } from '../invocation/present-inspection.ts'
import { callersSpan, sessionOf } from '../invocation/trace-headers.ts'
import { STREAM_TYPES, negotiateOutput } from '../invocation/wanted-form.ts'
import type { PresentOptions } from '../revisions/record.ts'
import { uuid } from '../schemas/request-schemas.ts'

/**
 * Running workflows (interface 12.1): at a revision's `data.url`, at a handler's address without a revision, and through `/services`, where
 * the workflow names its handler.
 */
export function invocationEndpoints(
  services: InvocationServices,
  tracesOf: TracesOf,
  options: PresentOptions,
): Endpoint[] {
  return [
    healthEndpoint(),
    ...ADDRESSES.flatMap(({ path, what, params, named }) => [
      endpoint({
        method: 'POST',
        path: `${path}/invoke`,
        tag: 'services',
        summary: `Run ${what}`,
        scope: 'invoke',
        showsAll: true,
        ...(params ? { params } : {}),
        optionalBody: true,
        unusedQuery: ['mock', 'project_id'],
        input: invokeInput,
        output: invokeOutput,
        streams: STREAM_TYPES,
        failure: invokeOutput,
        example: { ...named, data: { inputs: { correct_answer: 'Paris' }, outputs: 'Paris' } },
        run: (call: Call<InvokeInput>) => runInvoke(call, services, tracesOf),
      }),
      endpoint({
        method: 'POST',
        path: `${path}/inspect`,
        tag: 'services',
        summary: `Tell what ${what} takes and answers, with a request ready to send`,
        scope: 'read',
        ...(params ? { params } : {}),
        optionalBody: true,
        input: inspectInput,
        output: inspectOutput,
        ...(named ? { example: named } : {}),
        run: async (call: Call<InspectInput>) => {
          const { registry, params, input, caller } = call
          const inspected = await inspect(
            registry,
            {
              key: params['key'],
              revisionId: params['id'],
              inline: input.revision ?? input.data?.revision,
              inlineLoc: input.revision ? ['body', 'revision', 'data'] : undefined,
              references: input.references,
              selectorKey: input.selector?.key,
              caller: mayOf(caller),
              untilGone: () => call.untilGone(),
            },
            services,
          )
          return { body: presentInspection(inspected, options) }
        },
      }),
    ]),
  ]
}

/** Whether the revision of a `data.url` can be run; the other addresses of services answer without a key. */
function healthEndpoint(): Endpoint {
  return endpoint({
    method: 'GET',
    path: '/services/:key/:version/:id/health',
    tag: 'services',
    summary: 'Whether the revision of this id can be asked to run',
    scope: 'invoke',
    orScope: 'read',
    showsAll: true,
    params: z.object({ key, version: v0, id: uuid }),
    output: z.strictObject({ status: z.literal('ok') }),
    run: async ({ registry, params }) => {
      await findRunnable(registry, { revisionId: params['id'] })
      return { body: { status: 'ok' } }
    },
  })
}

/** Other keys than those of handlers are not routes. */
const keys: ReadonlySet<string> = new Set(handlerTable.keys)
const key = z.string().refine((text) => keys.has(text) || noHandler(text))
const v0 = z.string().refine((text) => text === 'v0' || noVersion(text))

function noHandler(text: string): never {
  throw new Refusal(
    'route_not_found',
    `There is no handler "${text}" under /services; there are ${[...keys].join(', ')}, each as /services/<key>/v0.`,
  )
}

function noVersion(text: string): never {
  throw new Refusal(
    'route_not_found',
    `There is no version "${text}" of a handler under /services; all are v0: /services/<key>/v0/invoke.`,
  )
}

const ADDRESSES = [
  {
    path: '/services/:key/:version/:id',
    what: 'the revision of this id',
    params: z.object({ key, version: v0, id: uuid }),
    named: undefined,
  },
  {
    path: '/services/:key/:version',
    what: 'this handler, with parameters or a workflow that the request brings or refers to',
    params: z.object({ key, version: v0 }),
    named: undefined,
  },
  {
    path: '/services',
    what: 'the workflow that the request brings or refers to',
    params: undefined,
    named: { references: { evaluator: { slug: 'exact' } } },
  },
]

type TracesOf = (registry: Registry) => Pick<ProjectTraces, 'isOpenTo'>

async function runInvoke(
  call: Call<InvokeInput>,
  services: InvocationServices,
  tracesOf: TracesOf,
): Promise<EndpointResponse> {
  const { registry, params, input, headers, caller } = call
  const { data = {} } = input
  const flags = flagsOf(input.flags, headers)
  const session = sessionOf(input.session_id, headers)
  const form = negotiateOutput(headers.accept, flags)
  let gone: AbortSignal | undefined
  const invocation = await invoke(
    registry,
    {
      key: params['key'],
      revisionId: params['id'],
      inline: data.revision,
      references: input.references,
      selectorKey: input.selector?.key,
      inputs: data.inputs,
      parameters: data.parameters,
      outputs: data.outputs,
      trace: data.trace,
      testcase: data.testcase,
      flags,
      links: input.links,
      wantsStream: form !== 'json',
      sessionId: session.sent,
      parent: registry.limit ? await ownSpan(callersSpan(headers), tracesOf(registry)) : callersSpan(headers),
      caller: mayOf(caller),
      untilGone: () => (gone ??= call.untilGone()),
    },
    services,
  )
  return invokeResponse(invocation, session, form)
}

function mayOf({ may }: Caller): { readonly mayRead: boolean; readonly mayWrite: boolean } {
  return { mayRead: may.read, mayWrite: may.write }
}

/** The caller's span, unless it is of a trace that a limited key does not see: the run then has a trace of its own (interface 18.8). */
async function ownSpan(
  parent: SpanLink | undefined,
  traces: Pick<ProjectTraces, 'isOpenTo'>,
): Promise<SpanLink | undefined> {
  return parent && (await traces.isOpenTo(parent.traceId)) ? parent : undefined
}
