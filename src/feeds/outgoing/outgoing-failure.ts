/** There was no usable answer; the message is a sentence that says why. */
export class OutgoingFailure extends Error {
  override readonly name = 'OutgoingFailure'
  readonly kind: OutgoingFailureKind

  constructor(message: string, kind: OutgoingFailureKind = 'network') {
    super(message)
    this.kind = kind
  }
}

/** `address`: the address is not allowed. `network`: no complete answer. `size`: the answer is too long. */
export type OutgoingFailureKind = 'address' | 'network' | 'size'

/** Converts an error of a socket or the resolver. */
export function outgoingFailureOf(error: unknown): OutgoingFailure {
  if (error instanceof OutgoingFailure) return error
  const { code, message } = error as NodeJS.ErrnoException // node:http and the resolver throw no other type
  return new OutgoingFailure(code === undefined || message.includes(code) ? message : `${message} (${code})`)
}
