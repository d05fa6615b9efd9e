import type { ModelFailure, ModelFailureKind } from '../models/models.ts'
import { type FailureId, HandlerFailure } from './handler-failure.ts'

/**
 * Converts a model's failure to the run's (interface 11.2, 11.17, 11.20). Failures of keys and connections
 * have their own ids and keep the message, which says what to set. All others get `otherwise`; if the
 * provider answered, its status is appended to the message.
 */
export function failureOfModel(
  failure: ModelFailure,
  otherwise: FailureId = 'v0:workflows:prompt-completion-error',
): HandlerFailure {
  const id = IDS[failure.kind] ?? otherwise
  const status = failure.upstreamStatus
  if (status === undefined || IDS[failure.kind])
    return new HandlerFailure(id, failure.message, undefined, undefined, failure.secret)
  return new HandlerFailure(
    id,
    `${failure.message}\nThe provider answered with status ${statusInWords(status)}.`,
  )
}

const IDS: Readonly<Partial<Record<ModelFailureKind, FailureId>>> = {
  credential: 'v0:schemas:invalid-secrets',
  connection: 'v0:schemas:unknown-connection',
  mismatch: 'v0:schemas:connection-model-mismatch',
}

/** A status with words for those that suggest a remedy: `429 (too many requests)`. */
function statusInWords(status: number): string {
  const words = STATUS_WORDS[status]
  return words === undefined ? String(status) : `${status} (${words})`
}

const STATUS_WORDS: Readonly<Record<number, string>> = {
  400: 'bad request',
  401: 'the key was not accepted',
  403: 'the key may not do this',
  404: 'not found',
  408: 'request timeout',
  409: 'conflict',
  413: 'request too large',
  422: 'unprocessable request',
  423: 'locked',
  429: 'too many requests',
  500: 'internal server error',
  502: 'bad gateway',
  503: 'service unavailable',
  504: 'gateway timeout',
  529: 'overloaded',
}
