import { z } from 'zod'
import { HandlerFailure, type StreamedOutputs } from '../../run/handlers.ts'
import type { Invocation } from '../../run/invocation.ts'
import { type Json, stringifyJson } from '../../base/json.ts'
import type { EndpointResponse } from '../routing/endpoint.ts'
import { PROTOCOL_VERSION, type Session, traceHeaders } from './trace-headers.ts'
import type { OutputForm } from './wanted-form.ts'

/** The answer to an invocation (interface 12.4): `data` for a success, the `code` of the failure otherwise. */
export const invokeOutput = z.strictObject({
  version: z.string(),
  status: z.strictObject({
    code: z.int(),
    message: z.string(),
    type: z.string().optional(),
    stacktrace: z.array(z.string()).optional(),
  }),
  code: z.string().optional(),
  secret: z.string().meta({ description: 'The secret of the project that is missing.' }).optional(),
  trace_id: z.string(),
  span_id: z.string(),
  session_id: z.string().optional(),
  data: z.strictObject({ outputs: z.unknown() }).optional(),
})

/** The response to an invocation in the requested form. A failure before the first piece is always JSON with its own status. */
export function invokeResponse(
  invocation: Invocation,
  session: Session,
  form: OutputForm,
): EndpointResponse | Promise<EndpointResponse> {
  const { result } = invocation
  const headers = traceHeaders(invocation, session)
  if (form === 'json' && 'outputs' in result) {
    return { text: successText(invocation, session, result.outputs), headers }
  }
  const envelope = (part: object): object => ({
    version: PROTOCOL_VERSION,
    ...part,
    trace_id: invocation.traceId,
    span_id: invocation.spanId,
    session_id: session.sent ?? session.minted,
  })
  if ('failure' in result) return { ...failed(result.failure, envelope), headers }
  if ('outputs' in result) {
    return streamed(
      form,
      headers,
      lines(form, single({ type: 'result', ...succeeded(result.outputs, envelope) })),
    )
  }
  return streamedAnswer(result.stream, form, headers, envelope)
}

async function streamedAnswer(
  stream: StreamedOutputs,
  form: OutputForm,
  headers: EndpointResponse['headers'],
  envelope: Envelope,
): Promise<EndpointResponse> {
  const pieces = stream.pieces[Symbol.asyncIterator]()
  try {
    const first = await pieces.next()
    return streamed(form, headers, lines(form, records(first, pieces, stream, envelope)))
  } catch (error) {
    if (error instanceof HandlerFailure) return { ...failed(error, envelope), headers }
    throw error
  }
}

/** The text of `succeeded`, joined by hand because only ids and outputs vary. Session ids need no escaping. */
function successText({ traceId, spanId }: Invocation, { sent, minted }: Session, outputs: Json): string {
  const session = sent ?? minted
  return (
    `${SUCCESS_START}"trace_id":"${traceId}","span_id":"${spanId}"` +
    (session === undefined ? '' : `,"session_id":"${session}"`) +
    `,"data":{"outputs":${stringifyJson(outputs)}}}`
  )
}

const SUCCESS = { code: 200, message: 'Success' }
const SUCCESS_START = `{"version":"${PROTOCOL_VERSION}","status":${stringifyJson(SUCCESS)},`

type Envelope = (part: object) => object

function succeeded(outputs: Json, envelope: Envelope): object {
  return { ...envelope({ status: SUCCESS }), data: { outputs } }
}

function failed(failure: HandlerFailure, envelope: Envelope): { status: number; body: object } {
  const { status, code, id, message, stacktrace, secret } = failure
  return {
    status,
    body: envelope({ status: { code: status, message, type: `${ERRORS}${id}`, stacktrace }, code, secret }),
  }
}

/** The beginning of `status.type`. */
const ERRORS = 'urn:svc:error:'

/** The pieces, then a last record: the whole answer, or the failure that ended it. */
async function* records(
  first: IteratorResult<object>,
  pieces: AsyncIterator<object>,
  { whole }: StreamedOutputs,
  envelope: Envelope,
): AsyncGenerator<object> {
  try {
    for (let next = first; !next.done; next = await pieces.next()) yield next.value
    yield { type: 'result', ...succeeded(whole(), envelope) }
  } catch (error) {
    if (!(error instanceof HandlerFailure)) throw error
    yield { type: 'error', ...failed(error, envelope).body }
  } finally {
    // If the reader stops, the handler stops, too.
    await pieces.return?.()
  }
}

async function* single(record: object): AsyncGenerator<object> {
  yield record
}

function streamed(
  form: OutputForm,
  headers: EndpointResponse['headers'],
  stream: AsyncIterable<string>,
): EndpointResponse {
  return {
    headers: { ...headers, 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
    stream,
    contentType:
      form === 'events' ? 'text/event-stream; charset=utf-8' : 'application/x-ndjson; charset=utf-8',
  }
}

async function* lines(form: OutputForm, source: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const record of source) {
    const text = stringifyJson(record)
    yield form === 'events' ? `data: ${text}\n\n` : `${text}\n`
  }
}
