/** There was no answer, or none that may be read; the message is a sentence that says why. */
export class OutgoingFailure extends Error {
  override readonly name = 'OutgoingFailure'
  readonly kind: OutgoingFailureKind

  constructor(message: string, kind: OutgoingFailureKind = 'network') {
    super(message)
    this.kind = kind
  }
}

/** `address` no request may go there; `network` nobody answered, or not to the end; `size` the answer is too long. */
export type OutgoingFailureKind = 'address' | 'network' | 'size'

/** What the sockets or the resolver threw, in one sentence. */
export function outgoingFailureOf(error: unknown): OutgoingFailure {
  if (error instanceof OutgoingFailure) return error
  const { code, message } = error as NodeJS.ErrnoException // node:http and the resolver throw nothing else
  return new OutgoingFailure(code === undefined || message.includes(code) ? message : `${message} (${code})`)
}
