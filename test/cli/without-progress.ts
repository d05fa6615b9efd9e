/** What a program says on standard error but for how far it is, which it says every few seconds, and so only where the machine is slow. */
export function withoutProgress(said: string): string {
  return said.replaceAll(/^(?:\[[#.]{10}\].*|.* rows\/s.*|[\d,]+ of [\d,]+ repositories.*)\n/gm, '')
}
