/** The command line itself is wrong; the message ends with how it should be. */
export class UsageError extends Error {
  constructor(sentence: string, usage: string) {
    super(`${sentence}\n\n${usage}`)
  }
}
