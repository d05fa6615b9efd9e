/** What is being done, on the last line of stderr until the next thing is. */
export function progress(what: string): void {
  process.stderr.write(`\r${`  ${what}`.padEnd(100)}\r`)
}
