import type { OpenSpan } from '../../traces/recording/open-span.ts'
import { ModelFailure, type ModelFailureKind } from '../models.ts'
import type { ModelEndpoint } from '../model-endpoint.ts'
import { boundedText } from '../../json/json-values.ts'
import { OutgoingFailure } from '../../outgoing/outgoing-failure.ts'
import type { TimeLimit } from '../time-limit.ts'

/** A call that failed, maybe before it was known whom to make it to. */
export interface UnfinishedCall extends Omit<FailedCall, 'reached'> {
  readonly reached: ModelEndpoint | undefined
}

/**
 * What to throw of an error that ended a call: a `ModelFailure`, or the error itself when it came from where credentials are kept. Puts
 * it into the call's span.
 */
export function failedCall(span: OpenSpan, error: unknown, { reached, ...call }: UnfinishedCall): unknown {
  const failure = reached ? modelFailureOf(error, { ...call, reached }) : error
  if (failure instanceof ModelFailure) {
    const { kind, message, upstreamStatus } = failure
    span
      .fail({ type: failure.name, message, stacktrace: undefined })
      .setForeign('error.type', upstreamStatus === undefined ? kind : String(upstreamStatus))
    return failure
  }
  const message = `The credential for the model '${call.model}' could not be read.`
  span.fail({ type: 'Error', message, stacktrace: undefined }).setForeign('error.type', '_OTHER')
  return failure
}

/** The call that an error came out of. */
interface FailedCall {
  readonly model: string
  /** Whom it was made to. The key is taken out of every message: some providers say it again when they refuse it. */
  readonly reached: Pick<ModelEndpoint, 'provider' | 'apiKey'>
  readonly limit: TimeLimit
}

/**
 * Why a call failed, of what the SDK, the connection or the time limit made of it (interface 11.20). The message holds what the
 * provider said, without the key and at most 1000 characters of it.
 */
function modelFailureOf(error: unknown, { model, reached, limit }: FailedCall): ModelFailure {
  if (error instanceof ModelFailure) return error
  const hideKey = (text: string): string => withoutKey(text, reached.apiKey)
  const fail = (kind: ModelFailureKind, sentence: string, status?: number): ModelFailure =>
    new ModelFailure(kind, `The model '${model}' of '${reached.provider.name}' ${hideKey(sentence)}`, status)
  const said = boundedText(hideKey(messageOf(error)), 1000)
  // Nobody waits: neither to be tried again nor elsewhere.
  if (limit.signal.aborted) return fail('request', 'was not waited for: the request ended before the answer.')
  if (limit.timeout.aborted) return fail('availability', `did not answer within ${limit.timeoutMs} ms.`)
  const outgoing = causesOf(error).find((it) => it instanceof OutgoingFailure)
  if (outgoing) return fail(OUTGOING_KINDS[outgoing.kind], `gave no answer. ${outgoing.message}`)
  if (isAnnounced(error)) return fail(announcedKind(error, said), `failed while it answered: ${said}`)
  const status = statusOf(error)
  if (status === undefined || status < 300)
    return fail('answer', `gave an answer that cannot be read: ${said}`)
  if (status >= 400) return fail(kindOf(status, said), `did not answer: ${said}${waitOf(error)}`, status)
  return fail(
    'request',
    'answered with a redirect, which is not followed; set the base URL it leads to.',
    status,
  )
}

function withoutKey(text: string, key: string): string {
  return key === '' ? text : text.replaceAll(key, '***')
}

const OUTGOING_KINDS = { address: 'request', network: 'availability', size: 'answer' } as const

/** An error and what caused it, outermost first. */
function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = []
  for (let it = error; it instanceof Error && !causes.includes(it); it = it.cause) causes.push(it)
  return causes
}

/** The HTTP status that an `APICallError` of the SDK carries. */
function statusOf(error: unknown): number | undefined {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined
  return typeof status === 'number' ? status : undefined
}

/** Whether the provider told of an error in the middle of its answer: such a one is data, not thrown by anybody. */
function isAnnounced(error: unknown): error is object {
  return typeof error === 'object' && error !== null && !(error instanceof Error)
}

function announcedKind(error: object, said: string): ModelFailureKind {
  const code = 'code' in error ? Number(error.code) : NaN
  return code >= 400 && code <= 599 ? kindOf(code, said) : 'availability'
}

function kindOf(status: number, said: string): ModelFailureKind {
  if (status === 408 || status >= 500) return 'availability'
  if (status === 429) return 'capacity'
  if (status === 409 || status === 423) return 'transient'
  if (status === 401 || status === 403) return 'access'
  if ((status === 400 || status === 422) && TOO_LONG.test(said)) return 'context'
  return 'request'
}

/** The sentences of the common providers about a prompt that is too long. */
const TOO_LONG =
  /context[ _-]?(?:length|window|size)|maximum context|token limit|too many tokens|(?:prompt|input) is too long|input token count|maximum number of (?:input )?tokens/i

/** What the provider asks for before the next call. */
function waitOf(error: unknown): string {
  const headers = error instanceof Error && 'responseHeaders' in error ? error.responseHeaders : undefined
  const after =
    typeof headers === 'object' && headers !== null && 'retry-after' in headers ? headers['retry-after'] : ''
  return /^[0-9]{1,6}$/.test(String(after)) ? ` It asks to wait ${String(after)} s.` : ''
}

/**
 * What went wrong in the provider's own words, as a sentence: of the body it answered with, whichever of the usual places it used, else
 * what the SDK makes of it.
 */
function messageOf(error: unknown): string {
  const text = inBody(bodyOf(error)) ?? inBody(error) ?? 'it did not say why'
  return /[.!?…]$/.test(text) ? text : `${text}.`
}

/** The body of an answer that an `APICallError` of the SDK carries. */
function bodyOf(error: unknown): unknown {
  const body = error instanceof Error && 'responseBody' in error ? error.responseBody : undefined
  // A body that answers with success is no complaint; what is wrong with it is in the error.
  const isComplaint = error instanceof Error && 'statusCode' in error && Number(error.statusCode) >= 300
  if (!isComplaint || typeof body !== 'string') return undefined
  try {
    return JSON.parse(body)
  } catch {
    return body.trim() === '' || /^\s*</.test(body) ? undefined : body.trim()
  }
}

/** `{error: {message}}`, `{error: "…"}`, `{message}`, `{detail}`, or the first of a list of such. */
function inBody(body: unknown): string | undefined {
  let part = body
  // Whoever answers chooses how deep it is.
  for (let level = 0; level < DEEPEST; level++) {
    if (typeof part === 'string') return part === '' ? undefined : part
    if (typeof part !== 'object' || part === null) return undefined
    if (Array.isArray(part)) part = part[0] as unknown
    else if ('error' in part && part.error) part = part.error
    else if ('message' in part && typeof part.message === 'string' && part.message !== '') return part.message
    else part = 'detail' in part ? part.detail : undefined
  }
  return undefined
}

/** No provider wraps its words in more objects and lists than this. */
const DEEPEST = 16
