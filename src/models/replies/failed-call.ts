import type { OpenSpan } from '../../traces/recording/open-span.ts'
import { type FailedCall, modelFailureOf } from './model-failure-of.ts'
import { ModelFailure } from '../models.ts'
import type { ModelEndpoint } from '../model-endpoint.ts'

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
