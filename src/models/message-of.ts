/**
 * What went wrong in the provider's own words, as a sentence: of the body it answered with, whichever of the usual places it used, else
 * what the SDK makes of it.
 */
export function messageOf(error: unknown): string {
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
  if (typeof body === 'string') return body === '' ? undefined : body
  if (Array.isArray(body)) return inBody(body[0])
  if (typeof body !== 'object' || body === null) return undefined
  if ('error' in body && body.error) return inBody(body.error)
  if ('message' in body && typeof body.message === 'string' && body.message !== '') return body.message
  return 'detail' in body ? inBody(body.detail) : undefined
}
