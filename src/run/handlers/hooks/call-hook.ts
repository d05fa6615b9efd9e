import { boundedText } from '../../../base/json.ts'
import { OutgoingFailure, type OutgoingAnswer, postOutgoing } from '../../../feeds/outgoing.ts'
import type { OpenSpan } from '../../../feeds/traces.ts'
import { HandlerFailure } from '../handler-failure.ts'
import type { HandlerContext } from '../handler.ts'
import { maskSecretsInText } from './mask-secrets.ts'

/** A call of a user's server. */
export interface HookCall {
  readonly url: string
  /** By lowercase name; they override the service's headers. */
  readonly headers: ReadonlyMap<string, string>
  /** Values that failures must not show. */
  readonly secrets: readonly string[]
  /** JSON. */
  readonly body: string
  readonly timeoutMs: number
}

/**
 * Posts to a hook and returns the body of its 200. Throws a `HandlerFailure`: `custom-hook-server-error` for
 * any other status, with status and body; `custom-hook-client-error` if there was no answer in time, the
 * answer was too long, or the address is not allowed. The call is a child of the run's span, and passes the
 * trace on (W3C `traceparent`).
 */
export async function callHook(call: HookCall, context: HandlerContext): Promise<string> {
  const span = context.span
    .child('POST', 'task', 'SPAN_KIND_CLIENT')
    .setForeign('http.request.method', 'POST')
    .setForeign('server.address', new URL(call.url).hostname)
  try {
    const { status, text } = await answerOf(call, context, span)
    span.setForeign('http.response.status_code', status)
    if (status === 200) return text
    throw new HandlerFailure(
      'v0:workflows:custom-hook-server-error',
      statusSentence(status, maskSecretsInText(text, call.secrets)),
    )
  } catch (error) {
    if (error instanceof HandlerFailure)
      span.fail({ type: error.code, message: error.message, stacktrace: undefined })
    throw error
  } finally {
    span.end()
  }
}

async function answerOf(call: HookCall, context: HandlerContext, span: OpenSpan): Promise<OutgoingAnswer> {
  const { policy, maxAnswerBytes } = context.outgoing
  const { url, body, timeoutMs, secrets } = call
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': 'branchpoint-hooks',
    traceparent: `00-${span.traceId}-${span.spanId}-01`,
    ...Object.fromEntries(call.headers),
  }
  const limits = { timeoutMs, maxAnswerBytes, mustBeWhole: true, signal: context.untilGone() }
  try {
    return await postOutgoing({ url, headers, body, ...limits }, policy)
  } catch (error) {
    if (!(error instanceof OutgoingFailure)) throw error
    throw new HandlerFailure(
      'v0:workflows:custom-hook-client-error',
      maskSecretsInText(`The hook gave no answer that can be used. ${error.message}`, secrets),
    )
  }
}

const CHARACTERS_SHOWN = 2000

/** Takes text whose secrets are already masked, because a truncated secret would not be recognised. */
function statusSentence(status: number, text: string): string {
  const isRedirect = status >= 300 && status < 400
  const said = boundedText(text, CHARACTERS_SHOWN)
  const hint = isRedirect ? '; redirects are not followed: give the URL that it leads to' : ''
  return `The hook answered ${status}${hint}${said === '' ? '.' : `: ${said}`}`
}
