/** A wrong command line; the message ends with the usage. */
export class UsageError extends Error {
  constructor(sentence: string, usage: string) {
    super(`${sentence}\n\n${usage}`)
  }
}
