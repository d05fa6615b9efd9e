/** The operating system's reason (`no such file or directory`); undefined for any other error. */
export function systemProblem(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error)) return undefined
  // node's form: `ENOENT: no such file or directory, open 'x'`
  return /^[A-Z0-9]+: ([^,]+)/.exec(error.message)?.[1] ?? error.message
}
