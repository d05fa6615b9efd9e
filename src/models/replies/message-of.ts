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
