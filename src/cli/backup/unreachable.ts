import { Refusal } from '../../errors.ts'

/** The refusal of a request without an answer: the reason, and what to set if the server's certificate is not trusted. */
export function unreachable(base: string, error: unknown): Refusal {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined
  const code = String((cause as NodeJS.ErrnoException | undefined)?.code) // node's own network errors have one
  const remedy = certificateRemedy(code)
  const why = (cause?.message ?? String(error)).replace(/\.?$/, '.')
  return new Refusal('storage_unavailable', `${base} cannot be reached: ${why}${remedy}`)
}

/** What to set if node does not trust the certificate of a server; empty for other errors. Begins with a space. */
export function certificateRemedy(code: string): string {
  if (!UNTRUSTED.test(code)) return ''
  return ' If it has a certificate of your own authority, set NODE_EXTRA_CA_CERTS and GIT_SSL_CAINFO to the file of that authority.'
}

/** Node's error codes for a certificate of an unknown authority. */
const UNTRUSTED = /^(?:UNABLE_TO_|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|CERT_UNTRUSTED)/
