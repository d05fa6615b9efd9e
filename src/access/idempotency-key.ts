import { invalid } from '../errors.ts'

/** The text of an `Idempotency-Key` header if it can be one: it becomes a line of a commit message. */
export function checkIdempotencyKey(text: string): string {
  if (/^[\x20-\x7e]{1,255}$/.test(text)) return text
  throw invalid(
    ['header', 'Idempotency-Key'],
    `${JSON.stringify(text.slice(0, 50))} has ${text.length} characters or some that are not printable ASCII; send 1 to ` +
      `255 printable ASCII characters, such as a UUID.`,
    'invalid_idempotency_key',
  )
}
